/**
 * A beginning of a project.
 * @example const { about, files }: Template = templates.file
 */
export interface Template {
  /** What it is for, in a few words. */
  readonly about: string
  /** Packages that it depends on. */
  readonly dependencies: readonly string[]
  /** What `npm start` and others run. */
  readonly scripts: Readonly<Record<string, string>>
  /** Its files, by their paths. */
  readonly files: Readonly<Record<string, string>>
}
