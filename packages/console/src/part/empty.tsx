import { Copy } from './copy.tsx'

/** Where there is nothing: what that means, and how there comes to be something. */
export function Empty({ text, snippet }: { text: string; snippet?: string }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {snippet !== undefined && (
        <div class="snippet">
          <pre tabIndex={0}>{snippet}</pre>
          <Copy text={snippet} />
        </div>
      )}
    </div>
  )
}
