// The default theme with the fonts of the reader's machine. VitePress takes it by the default export.
export { default } from 'vitepress/theme-without-fonts'
