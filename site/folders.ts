/** Where the source of the site is collected, and where it is built. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const SOURCE = join(ROOT, 'build/site/source');
export const OUTPUT = join(ROOT, 'build/site/public');
