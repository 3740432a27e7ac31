/** Of labelling (docs/spec/redblue.md, K1–K9). */
import { mutantsIn } from './commands.mjs';

export const ofLabel = mutantsIn('redblue', 'server/label');

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const LABEL_MUTANTS = [
  ofLabel('K1', 'labelling looks only once all of the other site has come', 'run-meeting', {
    file: 'run-meeting',
    line: 'if (broken === undefined) return undefined;',
    replacement: 'if (broken === undefined || at < this.#meeting.there.length) return undefined;',
  }),
  ofLabel('K2', 'labelling blames what it meets for what is wrong alone', 'run-meeting', {
    file: 'run-meeting',
    line: 'if (alone !== undefined) return alone;',
    replacement: '',
  }),
  ofLabel('K2', 'labelling blames for what held no more before', 'label-service', {
    file: 'run-meeting',
    line: 'if (breach !== undefined && (this.#isValid || breach.broken.isOfRow)) return breach;',
    replacement: 'if (breach !== undefined) return breach;',
  }),
  ofLabel('K3', 'labelling compares no removals', 'full-state', {
    file: 'full-state',
    line: ' && structurallyEqual(a.removalTimes(), b.removalTimes())',
    replacement: '',
  }),
  ofLabel('K3', 'labelling stamps what is apart after all others', 'run-meeting', {
    file: 'stamps',
    line: '(STRIDE / 2) * (place + 1)',
    replacement: 'STRIDE * 9 + place',
  }),
  ofLabel('K4', 'labelling tries what is red by itself', 'label-service', {
    file: 'judged-service',
    line: 'if (effect !== undefined) {',
    replacement: 'if (effect === null) {',
  }),
  ofLabel('K5', 'labelling calls blue what it has not tried', 'verdicts', {
    file: 'verdicts',
    line: 'if (trial.tried === 0) {',
    replacement: 'if (trial.tried < 0) {',
  }),
  ofLabel('K5', 'labelling says nothing of who has chosen nothing', 'label-service', {
    file: 'verdicts',
    line: '.filter((operation) => !spoken.has(operation) && !neverRun.includes(operation))',
    replacement: '.filter(() => false)',
  }),
  ofLabel('K6', 'labelling looks for no edges', 'label-service', {
    file: 'edges',
    line: 'if (looks >= LOOKS_MAX) return;',
    replacement: 'if (looks >= 0) return;',
  }),
  ofLabel('K7', 'labelling looks at no reads', 'label-service', {
    file: 'search',
    line: ', ran.isLocal, ran.reads]',
    replacement: ', ran.isLocal]',
  }),
  ofLabel('K9', 'labelling makes no narrow rounds', 'label-service', {
    file: 'values/scope',
    line: 'turn === WIDE_ROUNDS ? NARROW : ',
    replacement: '',
  }),
  ofLabel('K7', 'labelling does not look at arguments', 'label-service', {
    file: 'search',
    line: 'if (hasChangedArgs) this',
    replacement: 'if (false) this',
  }),
  ofLabel('K7', 'labelling runs no generator twice', 'label-service', {
    file: 'search',
    line: 'this.#compare(meeting, drawing.ran, result.ran);',
    replacement: '',
  }),
  ofLabel('K8', 'labelling shrinks to another breach', 'run-meeting', {
    file: 'shrink-breach',
    line: 'if (breach === undefined || !isSameBreach(best, breach)) return false;',
    replacement: 'if (breach === undefined) return false;',
  }),
  ofLabel('K9', 'a past is not gone on with', 'draw-meeting', {
    file: 'draw-meeting',
    line: 'tries < TRIES_HERE && !this.#isHeld(here)',
    replacement: 'tries < 0',
  }),
  ofLabel('K9', 'labelling meets the first operation first', 'label-service', {
    file: 'search',
    line: 'updates[(seed + Math.floor(seed / length)) % length]',
    replacement: 'updates[Math.floor(seed / length) % length]',
  }),
  ofLabel('K7', 'labelling keeps every text that is thrown', 'verdicts', {
    file: 'tally',
    line: 'if (kinds >= KINDS_MAX && what.fault === undefined && what !== OTHERS) return',
    replacement: 'if (kinds < 0) return',
  }),
  ofLabel('K8', 'labelling keeps a step whose number would have to change', 'label-service', {
    file: 'shrink-breach',
    line: '[shorter, withOthers, plainer, shorterWithOthers].some',
    replacement: '[shorter, withOthers, plainer].some',
  }),
  ofLabel('K9', 'labelling lets a generator take more than is left', 'label-rights', {
    file: 'workshop',
    line: 'if (choice !== undefined && lacking !== undefined)',
    replacement: 'if (choice === null && lacking !== undefined)',
  }),
  ofLabel('K7', 'what is lacking counts as a failure of the generator', 'label-rights', {
    file: 'search',
    line: 'failure !== undefined && !isLacking',
    replacement: 'failure !== undefined',
  }),
  ofLabel('K7', 'a generator is blamed for what another one has not brought about', 'verdicts', {
    file: 'verdicts',
    line: 'if (updates.some(isMissing)) return [];',
    replacement: '',
  }),
  ofLabel('K7', 'a generator that always fails is no fault', 'verdicts', {
    file: 'tally',
    line: 'return runs >= TELLING_RUNS && this.#failures.get(operation) === runs;',
    replacement: 'return false;',
  }),
  ofLabel('K7', 'a generator that failed once is a fault', 'verdicts', {
    file: 'tally',
    line: 'return runs >= TELLING_RUNS && this.#failures.get(operation) === runs;',
    replacement: 'return runs >= TELLING_RUNS && this.#failures.has(operation);',
  }),
];
