/** Bundles a page, from the built package, without a folder that others could write to at the same time. */
import type { InlineConfig } from 'vite';
import type { PageFiles } from './files.ts';

export async function bundlePage(config: InlineConfig): Promise<PageFiles> {
  // Loading it takes longer than bundling a page: only for pages that are not kept.
  const { build } = await import('vite');
  const built = await build({ ...config, build: { ...config.build, write: false } });
  if ('on' in built) throw new Error('a page that is watched is not built');
  const outputs = [built].flat().flatMap(({ output }) => output);
  return new Map(
    outputs.map((file) => [file.fileName, Buffer.from(file.type === 'chunk' ? file.code : file.source)] as const),
  );
}
