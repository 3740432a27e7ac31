/** The client's bindings run in browsers: no Node built-ins, and small. */
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

/**
 * What a page pays for the whole client of the wire, schemas and both codecs included, minified and
 * compressed. Six hundred of them compare values, by what every client brings along. Sixty are the
 * address of the documentation in errors.
 */
const BYTES_MAX = 29_500;

describe.each(['remote', 'redblue'])('bindings/%s', (name) => {
  test('bundled for a browser → no Node built-in, within its budget', async () => {
    const { outputFiles, metafile } = await build({
      stdin: {
        contents: `export { ${name} } from './src/bindings/${name}/index.ts';`,
        resolveDir: process.cwd(),
      },
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
      logLevel: 'silent',
    });
    const inputs = Object.keys(metafile.inputs);
    expect(
      inputs.filter((path) => /node_modules\/(?!zod\/)|src\/(server|testing|cli)/.test(path)),
    ).toEqual([]);
    expect(brotliCompressSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(BYTES_MAX);
  });
});
