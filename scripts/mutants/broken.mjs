/**
 * A file with one text in it replaced.
 *
 * @param {string} whole
 * @param {string} line a text within one line, or lines
 * @param {string} replacement
 * @returns {string | undefined} `undefined` unless the text is there exactly once
 */
export function broken(whole, line, replacement) {
  const [before, after, ...more] = whole.split(line);
  return after === undefined || more.length > 0 ? undefined : before + replacement + after;
}
