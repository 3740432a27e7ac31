/** Bundles the script of a small page, from the built package. */
import { build } from 'esbuild';

/** @param format `esm` for a module; `iife` for a classic script, which a browser also loads from a disk */
export async function bundleScript(entry: string, format: 'esm' | 'iife' = 'esm'): Promise<Buffer> {
  const options = { bundle: true, minify: true, target: 'es2022', write: false } as const;
  const { outputFiles } = await build({ entryPoints: [entry], format, ...options });
  return Buffer.from(outputFiles[0]?.contents ?? []);
}
