/** Whether each site answers in the end, and all show the same. */
import type { Evidence } from '../evidence.ts';

const TEXT_MAX = 300;

export function convergenceFaults({ settled }: Evidence): string[] {
  if (settled.size === 0) return ['the round did not come to its end'];
  const silent = [...settled]
    .filter(([, overview]) => overview === null)
    .map(([site]) => `${site} does not answer`);
  const shown = new Map<string, string>();
  for (const [site, overview] of settled)
    if (overview !== null) shown.set(JSON.stringify(overview), site);
  if (shown.size <= 1) return silent;
  const texts = [...shown].map(
    ([text, site]) => `${site} ${text.slice(...aroundDifference([...shown.keys()]))}`,
  );
  return [...silent, `sites differ in the end: ${texts.join(' and ')}`];
}

/** Where texts begin to differ, with some of what stands before. */
function aroundDifference(texts: readonly string[]): [from: number, to: number] {
  const [first = ''] = texts;
  let at = 0;
  while (at < first.length && texts.every((text) => text[at] === first[at])) at += 1;
  const from = Math.max(0, at - TEXT_MAX / 3);
  return [from, from + TEXT_MAX];
}
