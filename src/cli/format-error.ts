/** Formats errors of modules that the command has loaded. */
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

export function formatThrownWithLocation(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  const message = error.message === '' ? error.name : error.message;
  return `${message}${formatLocation(error)}`;
}

/**
 * Returns the innermost place in the stack that is neither in an installed package nor in this
 * package, in brackets. Returns an empty string if there is none.
 */
export function formatLocation({ stack = '' }: Error): string {
  const ours = fileURLToPath(new URL('..', import.meta.url));
  const places = [
    ...stack.matchAll(/^ +at (?:.*?[ (])?((?:file:\/\/|\/|[A-Z]:\\)[^()]*?):(\d+):(\d+)\)?$/gm),
  ]
    .map(([, place = '', line, column]) => ({
      file: place.startsWith('file:') ? fileURLToPath(place) : place,
      at: `${line}:${column}`,
    }))
    .filter(({ file }) => !file.startsWith(ours));
  const place = places.find(({ file }) => !/[\\/]node_modules[\\/]/.test(file)) ?? places[0];
  return place === undefined ? '' : ` (${place.file}:${place.at})`;
}
