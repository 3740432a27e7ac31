/** Whether `exports` of package.json says what `scripts/entries.json` says, by which everything else goes. */

/** @typedef {{ subpath: string, source: string, runs: 'anywhere' | 'in Node' }} Entry */

/**
 * @param {Readonly<Record<string, unknown>>} published
 * @param {readonly Entry[]} entries
 * @returns {string[]} what differs, in words
 */
export function entryProblems(published, entries) {
  const problems = [];
  for (const { subpath, source, runs } of entries) {
    const built = source.replace(/^src/, './dist').replace(/\.ts$/, '');
    const [wanted, given] = [{ types: `${built}.d.ts`, default: `${built}.js` }, published[subpath]];
    if (JSON.stringify(given) !== JSON.stringify(wanted))
      problems.push(`package.json: exports "${subpath}" must be ${JSON.stringify(wanted)}`);
    if (runs !== 'anywhere' && runs !== 'in Node')
      problems.push(`scripts/entries.json: ${subpath} must run anywhere, or in Node`);
  }
  const known = new Set(entries.map(({ subpath }) => subpath));
  for (const [subpath, target] of Object.entries(published))
    if (typeof target !== 'string' && !known.has(subpath))
      problems.push(`scripts/entries.json: lacks "${subpath}", which package.json exports`);
  return problems;
}
