// VitePress takes its configuration by the default export, and bundles what this file imports with a compiler of its own: what
// tools/site/ knows is loaded by Node instead, as everywhere.
const source = new URL('../../tools/site/config.ts', import.meta.url).href
const { config } = await import(source)
export default config
