import { defineConfig } from 'vite'

export default defineConfig({
  // Below whatever the page says that its base is.
  base: './',
  build: {
    outDir: 'dist',
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Nothing is put into the page: its policy allows no scripts and styles but files.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  logLevel: 'warn',
})
