/**
 * Built pages are kept in build/demo from one start to the next, and built again when one of their
 * inputs has changed. Several processes may do so at the same time, because a page is one file that
 * is written atomically.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import type { PageFiles } from './page-files.ts';
import { inputsHash } from './inputs.ts';

const FOLDER = new URL('../../build/demo/', import.meta.url);

interface KeptPage {
  /** The hash of the inputs. */
  readonly inputs: string;
  /** By path, in base64. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Returns the stored page of a name, or builds and stores it.
 *
 * @param hash tells of what is built from
 */
export async function keptPage(
  name: string,
  build: () => Promise<PageFiles>,
  hash: () => Promise<string> = inputsHash,
): Promise<PageFiles> {
  const inputs = await hash();
  const place = new URL(`${name}.json`, FOLDER);
  const retained = await read(place);
  if (retained?.inputs === inputs) {
    return new Map(
      Object.entries(retained.files).map(([path, body]) => [path, Buffer.from(body, 'base64')]),
    );
  }
  const files = await build();
  // The files may have changed during the build: then the result is not kept.
  if ((await hash()) === inputs) await keep(place, { inputs, files: textOf(files) });
  return files;
}

async function read(place: URL): Promise<KeptPage | undefined> {
  try {
    return JSON.parse(await readFile(place, 'utf8')) as KeptPage;
  } catch {
    // If the file cannot be read, the page is built again.
    return undefined;
  }
}

async function keep(place: URL, page: KeptPage): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const draft = new URL(`${place.href}.${randomUUID()}`);
  await writeFile(draft, JSON.stringify(page));
  await rename(draft, place);
}

function textOf(files: PageFiles): KeptPage['files'] {
  return Object.fromEntries([...files].map(([path, body]) => [path, body.toString('base64')]));
}
