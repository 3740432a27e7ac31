/** Of labelling: what is drawn, what is compared, and what is told of it (docs/spec/redblue.md, K1–K9). */
import { ofLabel } from './label.mjs';

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const LABEL_SEARCH_MUTANTS = [
  ofLabel('K9', 'a meeting is drawn in a state that is not valid', 'drawn-values', {
    file: 'draw-meeting',
    line: 'return this.#changes(drawn) && (this.#isValidAtFirst || this.#site.isValid);',
    replacement: 'return this.#changes(drawn);',
  }),
  ofLabel('K9', 'labelling draws takes of what the first site holds', 'drawn-values', {
    file: 'draw-meeting',
    line: 'this.#site.reserve(choiceOf(here.ran)?.effects ?? []);',
    replacement: '',
  }),
  ofLabel('K9', 'labelling never gives two operations the same arguments', 'drawn-values', {
    file: 'draw-meeting',
    line: 'const isAlike = other === wanted && random.chance(0.3);',
    replacement: 'const isAlike = other === wanted && random.chance(0);',
  }),
  ofLabel('K3', 'labelling has the first site always earlier', 'drawn-values', {
    file: 'draw-meeting',
    line: 'const place = random.between(0, 2 * steps.length);',
    replacement: 'const place = 0 * random.between(0, 2 * steps.length);',
  }),
  ofLabel('K9', 'labelling forgets what was replied', 'drawn-values', {
    file: 'draw-meeting',
    line: 'this.#pool.note(step.operation, ran.outcome?.reply.value);',
    replacement: '',
  }),
  ofLabel('K9', 'labelling forgets which numbers stand', 'drawn-values', {
    file: 'draw-meeting',
    line: "if (typeof now === 'number') this.#pool.note(field, now);",
    replacement: '',
  }),
  ofLabel('K3', 'labelling finds no row that was removed before and differs', 'full-state', {
    file: 'full-state',
    line: 'rows.set(name, [...(rows.get(name) ?? []), state]);',
    replacement: 'rows.set(name, [state]);',
  }),
  ofLabel('K4', 'labelling looks for what a reply made later makes red', 'judged-service', {
    file: 'judged-service',
    line: "return makesReply ? 'makes its reply when it is applied, in the red order' : undefined;",
    replacement: "return makesReply && shadow === '' ? '' : undefined;",
  }),
  ofLabel('K5', 'labelling holds to the colours of the contract', 'judged-service', {
    file: 'judged-service',
    line: "contract: { ...contract, operations: withoutColours(contract.operations) } as Service['contract'],",
    replacement: 'contract,',
  }),
  ofLabel('K5', 'labelling stamps as blue what is always red', 'judged-service', {
    file: 'run-meeting',
    line: " || judged.declared(choice.shadow, step.operation) === 'red';",
    replacement: ';',
  }),
  ofLabel('K3', 'labelling stamps as blue what is red by itself', 'judged-service', {
    file: 'run-meeting',
    line: "const isRed = choice.colour === 'red' || judged",
    replacement: 'const isRed = judged',
  }),
  ofLabel('K9', 'labelling keeps the takes of the first site to itself', 'meeting-rights', {
    file: 'run-meeting',
    line: 'const apart = [...(this.#first?.chosen.effects ?? []), ...this.#others',
    replacement: 'const apart = [...this.#others',
  }),
  ofLabel('K9', 'labelling keeps the takes of the second site to itself', 'meeting-rights', {
    file: 'run-meeting',
    line: `...this.#others.flatMap(({ effects }) => effects)];
    return takesOf`,
    replacement: `];
    return takesOf`,
  }),
  ofLabel('K1', 'labelling tells of what came after the breach', 'run-meeting', {
    file: 'run-meeting',
    line: 'there: there.slice(0, at + 1), place };',
    replacement: 'there, place };',
  }),
  ofLabel('K2', 'labelling tells of a past that came later', 'run-meeting', {
    file: 'run-meeting',
    line: `{ past: past.slice(0, at), here: step, there: [], place: 0 });
      if (breach`,
    replacement: `{ past, here: step, there: [], place: 0 });
      if (breach`,
  }),
  ofLabel('K2', 'labelling forgets what the second site had seen', 'run-meeting', {
    file: 'run-meeting',
    line: 'const before = [...past, ...there.slice(0, at)];',
    replacement: 'const before = [...past];',
  }),
  ofLabel('K5', 'labelling counts a try beside nothing', 'label-rights', {
    file: 'search',
    line: 'if (beside.length > 0) trial.tried += 1;',
    replacement: 'trial.tried += 1;',
  }),
  ofLabel('K7', 'labelling runs no read twice', 'twice', {
    file: 'search',
    line: 'this.#compare({ past: [], here: step, there: [], place: 0 }, [first], [second]);',
    replacement: '',
  }),
  ofLabel('K7', 'labelling tells nothing of reads', 'twice', {
    file: 'search',
    line: 'this.#noteRan({ step, ran: first });',
    replacement: '',
  }),
  ofLabel('K7', 'labelling compares no refusals', 'twice', {
    file: 'search',
    line: 'ran.refusal?.domain, ',
    replacement: '',
  }),
  ofLabel('K7', 'labelling does not compare which results are local', 'twice', {
    file: 'search',
    line: ' ran.isLocal,',
    replacement: '',
  }),
  ofLabel('K7', 'labelling compares no replies', 'twice', {
    file: 'search',
    line: ' ran.reply,',
    replacement: '',
  }),
  ofLabel('K7', 'labelling compares no failures', 'twice', {
    file: 'search',
    line: ' && c?.code === d?.code',
    replacement: '',
  }),
  ofLabel('K5', 'labelling counts a try for each operation beside it', 'label-service', {
    file: 'search',
    line: 'for (const shadow of new Set(beside))',
    replacement: 'for (const shadow of beside)',
  }),
  ofLabel('K8', 'labelling leaves the time of a breach as it was drawn', 'run-meeting', {
    file: 'shrink-breach',
    line: 'if (place > 0) yield { ...meeting, place: 0 };',
    replacement: '',
  }),
  ofLabel('K8', 'labelling shrinks to another invariant', 'breach', {
    file: 'breach',
    line: 'return a.broken.invariant === b.broken.invariant && tableOf',
    replacement: 'return tableOf',
  }),
  ofLabel('K8', 'labelling shrinks to the invariant of another table', 'breach', {
    file: 'breach',
    line: ' && tableOf(a.broken) === tableOf(b.broken)',
    replacement: ' && tableOf(a.broken) !== null',
  }),
  ofLabel('K6', 'labelling remembers values without end', 'unreached', {
    file: 'unreached',
    line: 'if (known.length < SEEN_MAX && !known.includes(value))',
    replacement: 'if (!known.includes(value))',
  }),
  ofLabel('K6', 'labelling draws states with small counters alone', 'unreached', {
    file: 'unreached',
    line: 'Math.abs(Number(pick(random, known)))',
    replacement: '0',
  }),
  ofLabel('K2', 'labelling asks of rows that are removed', 'label-service', {
    file: 'validity',
    line: 'if (!this.#store.has(table, key)) continue;',
    replacement: '',
  }),
  ofLabel('K7', 'labelling runs some generators twice where it compares nothing', 'twice', {
    file: 'workshop',
    line: 'limits: { repeatedShare: 0 }, ',
    replacement: '',
  }),
  ofLabel('K7', 'labelling tells of one generator what another has thrown', 'twice', {
    file: 'workshop',
    line: `    this.#thrown = undefined;
    const { parsed }`,
    replacement: '    const { parsed }',
  }),
  ofLabel('K9', 'labelling tells of rights only beside an invariant', 'meeting-rights', {
    file: 'story',
    line: "if (breach.kind !== 'alone' && breach.takes)",
    replacement: "if (breach.kind === 'beside' && breach.takes)",
  }),
  ofLabel('K5', 'labelling counts operations for shadow operations', 'verdicts', {
    file: 'verdicts',
    line: 'const red = shadows.filter(isRed).length;',
    replacement: 'const red = updates.filter(isRed).length;',
  }),
  ofLabel('K9', 'labelling draws half of what several schemas ask', 'values/schema-values', {
    file: 'values/schema-values',
    line: 'const required = [...(whole.required ?? []), ...(part.required ?? [])];',
    replacement: 'const required = [...(part.required ?? [])];',
  }),
  ofLabel('K9', 'labelling draws values that have no end', 'values/schema-values', {
    file: 'values/schema-values',
    line: 'const choice = depth > DEPTH_MAX ? choices.at(-1) : ',
    replacement: 'const choice = ',
  }),
  ofLabel('K9', 'labelling draws far bounds in every round', 'values/schema-values', {
    file: 'values/schema-values',
    line: '(Math.abs(each) <= FAR || scope.numberMax >= FAR_FROM)',
    replacement: 'each !== Infinity',
  }),
  ofLabel('K8', 'labelling goes on after it was told to end', 'label-service', {
    file: 'label-service',
    line: 'return this.#isEnded || this.#made >= this.#runs;',
    replacement: 'return this.#made >= this.#runs;',
  }),
];
