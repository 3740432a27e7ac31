/**
 * Pages of `docs` have no HTML, so that `<file>` outside of code is text. VitePress would take it
 * for a component.
 */

const FENCE = /^\s*(```|~~~)/;
const CODE_OR_TAG = /(`+)(?:(?!\1).)+?\1(?!`)|<(?=[a-z/])/gi;

/** Escapes what looks like a tag, except in code. */
export function escapeTags(markdown: string): string {
  let isFenced = false;
  const lines = markdown.split('\n').map((line) => {
    if (FENCE.test(line)) isFenced = !isFenced;
    return isFenced
      ? line
      : line.replaceAll(CODE_OR_TAG, (found) => (found === '<' ? '&lt;' : found));
  });
  return lines.join('\n');
}
