/** One copy of a file with all its mutants in it, each behind a switch, so that nothing is compiled again for a mutant. */

/**
 * @param {string} text
 * @param {readonly import('./generate.mjs').Mutant[]} mutants of this file; two of them overlap only where one holds the other
 * @param {string} from where the switch is imported from
 * @returns {string} with as many lines as before
 */
export function instrument(text, mutants, from) {
  if (mutants.length === 0) return text;
  const places = new Map();
  for (const mutant of mutants) {
    const key = `${mutant.start}-${mutant.end}-${mutant.kind}`;
    const place = places.get(key) ?? { start: mutant.start, end: mutant.end, kind: mutant.kind, mutants: [] };
    place.mutants.push(mutant);
    places.set(key, place);
  }
  // Outer places first; of equal ones the statement holds the expression.
  const sorted = [...places.values()].toSorted(
    (a, b) => a.start - b.start || b.end - a.end || (a.kind === 'statement' ? -1 : 1),
  );
  let next = 0;
  const within = (start, end) => {
    let out = '';
    let at = start;
    while (next < sorted.length && sorted[next].start < end) {
      const place = sorted[next];
      next += 1;
      out += text.slice(at, place.start) + switched(place, within(place.start, place.end));
      at = place.end;
    }
    return out + text.slice(at, end);
  };
  return `import { isMutant as $m } from ${JSON.stringify(from)}; ${within(0, text.length)}`;
}

function switched({ kind, mutants }, original) {
  if (kind === 'statement') return `{ if (!$m(${mutants[0].id})) ${original} }`;
  const others = mutants.map(({ id, to }) => `$m(${id}) ? (${oneLine(to)}) : `).join('');
  return `(${others}(${original}))`;
}

/** A line comment would hide what follows it; line ends would move the lines below. */
function oneLine(code) {
  return code
    .split('\n')
    .map((line) => line.replace(/(^|\s)\/\/.*$/, ''))
    .join(' ');
}
