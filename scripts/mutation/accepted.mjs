/**
 * Mutants that no test notices and that stay, each with the reason. One is found by its file, the line where it begins,
 * and what is replaced by what; a test holds each to be still there.
 *
 * @type {readonly { file: string, text: string, from: string, to: string, reason: string }[]}
 */
export const ACCEPTED = [
  ...stay(
    'src/correctable/effects.ts',
    'Only how often the parts are looked through: what they come to is the same.',
    'if (count < 8 || count & (count - 1)) return;',
    ['count < 8 || count & (count - 1)', 'false'],
    ['count < 8 || count & (count - 1)', '(count < 8) && (count & (count - 1))'],
    ['1', '(1 + 1)'],
  ),
  ...stay(
    'src/correctable/effects.ts',
    'The first part stays in the list for another round, and counts by itself meanwhile.',
    'for (const other of new Set(parts.splice(0))) {',
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/effects.ts',
    'It is compared with itself and with what is below it: any number above those will do.',
    'export const UPDATE = 2;',
    ['2', '(2 + 1)'],
  ),
  ...stay(
    'src/correctable/ladder.ts',
    'Any number below 0 is below all ranks: it is compared with ranks and with itself, and nothing counts from it.',
    'export const NO_RANK = -1;',
    ['1', '(1 + 1)'],
  ),
  ...ofEqual(
    'Only when assumptions begin to be kept, which saves looks: what is equal is the same without them.',
    ['const FREE_LOOKS_MAX = 100_000;', ['100_000', '(100_000 + 1)']],
    ['return a === b || proven(a, b, 0, { looks: 0, later: [], assumptions: undefined });', ['0', '1']],
    [
      'comparison.looks += depth > FREE_DEPTH_MAX ? FREE_LOOKS_MAX : 1;',
      ['depth > FREE_DEPTH_MAX', 'true'],
      ['depth > FREE_DEPTH_MAX', 'depth >= FREE_DEPTH_MAX'],
      ['1', '(1 + 1)'],
    ],
    [
      'if (comparison.looks > FREE_LOOKS_MAX && isAssumed(a, b, comparison)) return true;',
      ['comparison.looks > FREE_LOOKS_MAX', 'comparison.looks >= FREE_LOOKS_MAX'],
    ],
  ),
  ...ofEqual(
    'Only how deep the stack is when pairs begin to be compared later: half as deep, they all are compared too.',
    [
      'if (Array.isArray(a)) return isList(a) && isList(b) && equalArrays(a, b, depth + 1, comparison);',
      ['1', '(1 + 1)'],
    ],
    [
      'return prototype === other && equalProperties(a as Properties, b as Properties, depth + 1, comparison);',
      ['1', '(1 + 1)'],
    ],
    ['return isSameKind && isBuiltIn(prototype) && equalBuiltIns(a, b, depth + 1, comparison);', ['1', '(1 + 1)']],
  ),
  ...ofEqual(
    'An assumption that is taken back without need is made again, after another look.',
    [
      'const linkedFrom = comparison.assumptions?.linked.length ?? 0;',
      ['comparison.assumptions?.linked.length ?? 0', '0'],
    ],
    ['if (!isEqual) {', ['!isEqual', 'true']],
  ),
  ...ofEqual('A list that something was pushed to has a length above 0.', [
    'if (depth > DEPTH_MAX) return comparison.later.push([a, b]) > 0;',
    ['comparison.later.push([a, b]) > 0', 'comparison.later.push([a, b]) >= 0'],
  ]),
  ...ofEqual(
    'Nothing global is called undefined but that itself, which has no prototype: it is no built-in either way.',
    [
      "const name = (prototype as Partial<object>).constructor?.name ?? '';",
      ["(prototype as Partial<object>).constructor?.name ?? ''", '(prototype as Partial<object>).constructor?.name'],
    ],
  ),
  ...ofEqual(
    'Only how long the ways to the end of links are: they lead to the same end.',
    ['const leftWeight = weights.get(left) ?? 1;', ['weights.get(left) ?? 1', '1'], ['1', '(1 + 1)']],
    ['const rightWeight = weights.get(right) ?? 1;', ['weights.get(right) ?? 1', '1'], ['1', '(1 + 1)']],
    [
      'const [light, heavy] = leftWeight < rightWeight ? [left, right] : [right, left];',
      ['leftWeight < rightWeight', 'false'],
      ['leftWeight < rightWeight', 'true'],
      ['leftWeight < rightWeight', 'leftWeight <= rightWeight'],
    ],
    [
      'weights.set(heavy, leftWeight + rightWeight);',
      ['weights.set(heavy, leftWeight + rightWeight);', ';'],
      ['leftWeight + rightWeight', 'leftWeight - rightWeight'],
    ],
  ),
  ...ofEqual('Past their ends both have undefined, and both ends are at the same place.', [
    'for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth, comparison)) return false;',
    ['i < a.length', 'i <= a.length'],
  ]),
  ...ofEqual('An entry of a set has the item twice.', [
    'for (const entry of b.entries()) if (!a.has(entry[0])) alikeOf(entry[0]).push(isMap ? entry : entry[0]);',
    ['0', '1'],
  ]),
  ...ofEqual(
    'Only how much of an item its sketch looks at: it is the same for all that are equal, and few others look like it.',
    ['function sketchOf(key: unknown, depth = 3): string {', ['3', '(3 + 1)']],
    ["if (depth === 0) return '';", ['0', '1']],
    ['const partsMax = 4 ** depth;', ['4', '(4 + 1)']],
    [
      'const endMax = bytes ? 128 : partsMax / 2;',
      ['bytes', 'true'],
      ['128', '(128 + 1)'],
      ['partsMax / 2', 'partsMax * 2'],
      ['2', '(2 + 1)'],
    ],
    ['return [list.length, ...list.slice(0, endMax), ...list.slice(-endMax)].map(next).join();', ['0', '1']],
    [
      'if (isCollection && key.size > partsMax) return String(key.size);',
      ['key.size > partsMax', 'key.size >= partsMax'],
      ['String(key.size)', "''"],
    ],
  ),
  ...stay(
    'src/correctable/pace/agreement-time.ts',
    'Before the first update has been ordered nothing is there to fade.',
    '#seenAtMs = 0;',
    ['0', '1'],
  ),
  ...stay(
    'src/correctable/pace/places.ts',
    'Of places that are free at the same time, none comes before the other.',
    'const after = this.#resting.findIndex((each) => each > freeAtMs);',
    ['each > freeAtMs', 'each >= freeAtMs'],
  ),
  ...stay(
    'src/correctable/pace/places.ts',
    'One at the latest time is set to what it is, and none is there past the first.',
    'for (let at = this.#resting.length - 1; (this.#resting[at] ?? 0) > latestMs; at -= 1) this.#resting[at] = latestMs;',
    ['(this.#resting[at] ?? 0) > latestMs', '(this.#resting[at] ?? 0) >= latestMs'],
    ['0', '1'],
  ),
];

/** Mutants of one line. */
function stay(file, reason, text, ...mutants) {
  return mutants.map(([from, to]) => ({ file, text, from, to, reason }));
}

/** Mutants of lines of `equal.ts`. */
function ofEqual(reason, ...lines) {
  return lines.flatMap(([text, ...mutants]) => stay('src/correctable/equal.ts', reason, text, ...mutants));
}
