/** The version of the package that the command is of. */
import { readFileSync } from 'node:fs';

/** As its package.json says, which is as far from the source as from what is built of it. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
