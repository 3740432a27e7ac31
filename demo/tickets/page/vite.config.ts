/**
 * Bundles the ticket shop's page into build/demo/tickets: `vite build --config demo/tickets/page/vite.config.ts`.
 * The page imports the built package by its public entries, so `npm run build` comes first.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserConfig } from 'vite';

const config: UserConfig = defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  logLevel: 'warn',
  build: {
    outDir: fileURLToPath(new URL('../../../build/demo/tickets', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
  },
});

export default config;
