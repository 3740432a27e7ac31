/**
 * Bundles a page, from the built package, without a folder that others could write to at the same
 * time.
 */
import type { Plugin } from 'vite';
import type { PageFiles } from './page-files.ts';

export interface PageToBundle {
  /** The folder with its index.html. */
  readonly root: string;
  readonly plugins?: readonly Plugin[];
  /** The size above which Vite warns about a script. */
  readonly chunkSizeWarningLimit?: number;
}

export async function bundlePage({
  root,
  plugins = [],
  ...given
}: PageToBundle): Promise<PageFiles> {
  // Load Vite only if a page must be built, because loading it takes longer than bundling.
  const { build } = await import('vite');
  const built = await build({
    configFile: false,
    root,
    base: './',
    logLevel: 'warn',
    plugins: [...plugins],
    build: { write: false, target: 'es2022', modulePreload: { polyfill: false }, ...given },
  });
  if ('on' in built) throw new Error('a page that is watched is not built');
  const outputs = [built].flat().flatMap(({ output }) => output);
  return new Map(
    outputs.map(
      (file) =>
        [file.fileName, Buffer.from(file.type === 'chunk' ? file.code : file.source)] as const,
    ),
  );
}
