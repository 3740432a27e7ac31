/**
 * Of the cache (docs/spec/cache.md). Those of the model are faults that the cache once had, or nearly: its test finds each
 * (`npm run faults:cache` says in how many of its schedules).
 */

const CACHE = 'src/bindings/cache';

/** A fixed seed, one that shows nothing wrong without a change: what is found is found again. */
const model = (runs = 1_000) => [
  'env',
  'CACHE_MODEL_SEED=5',
  `CACHE_MODEL_RUNS=${runs}`,
  'vitest',
  'run',
  '--project',
  'property',
  'test/property/cache-model.test.ts',
];

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const CACHE_MUTANTS = [
  {
    name: 'operations that differ in their key share a view',
    rule: 'cache',
    file: `${CACHE}/identity.ts`,
    line: 'const parts = [canonical(key), canonical(args)];',
    replacement: 'const parts = [canonical(key && undefined), canonical(args)];',
    command: model(),
  },
  {
    name: 'what waits for the load is asked for by whoever is signed in then',
    rule: 'cache P5',
    file: `${CACHE}/cache-binding.ts`,
    line: 'if (isFormer) return refuse(',
    replacement: 'if (isFormer && Math.random() > 1) return refuse(',
    command: model(),
  },
  {
    name: 'another user finds the views of the one before in memory',
    rule: 'cache P5',
    file: `${CACHE}/committed-views.ts`,
    line: '    this.#cache.forget();\n',
    replacement: '',
    command: model(),
  },
  {
    name: 'clearing leaves what others have stored',
    rule: 'cache P6',
    file: `${CACHE}/persistence.ts`,
    line: 'if (id !== LEDGER_ID && isChosen(id)) this.change(id, undefined);',
    replacement: 'if (id === LEDGER_ID && isChosen(id)) this.change(id, undefined);',
    command: model(),
  },
  {
    name: 'clearing does not say that the store refused',
    rule: 'cache P6',
    file: `${CACHE}/persistence.ts`,
    line: 'if (refusal !== undefined) throw refusal;',
    replacement: '',
    command: ['vitest', 'run', '--project', 'unit', 'test/unit/bindings/cache/cache-pages.test.ts'],
  },
  {
    name: 'what is excluded is written through',
    rule: 'cache',
    file: `${CACHE}/committed-views.ts`,
    line: 'if (write === undefined || !cacheable(write.operation)) return undefined;',
    replacement: 'if (write === undefined) return undefined;',
    command: model(),
  },
  {
    name: 'what the store refused is lost',
    rule: 'cache P1',
    file: `${CACHE}/persistence.ts`,
    line: 'this.#putBack(batch ?? noChanges(), isNotCloneable(cause));',
    replacement: 'isNotCloneable(cause);',
    command: model(),
  },
  {
    name: 'what is written through depends on what the update touches',
    rule: 'cache P1',
    file: `${CACHE}/committed-views.ts`,
    line: 'return { ...write, touches: touches(write.operation) };',
    replacement: 'return { ...write, touches: touches(operation) };',
    command: model(),
  },
  {
    name: 'all that was kept began at the same time',
    rule: 'cache P3',
    file: `${CACHE}/committed-views.ts`,
    line: 'began: ELSEWHERE - knownAt,',
    replacement: 'began: ELSEWHERE,',
    command: model(),
  },
  {
    name: 'a session that goes on has seen nothing',
    rule: 'cache P3',
    file: `${CACHE}/session.ts`,
    line: 'this.#forgottenAt = goesOnAt;',
    replacement: '',
    command: model(),
  },
  {
    name: 'lower versions than before are older for ever',
    rule: 'cache P2',
    file: `${CACHE}/supersede.ts`,
    line: "if (next.isStrongest && isLater) return 'take';",
    replacement: '',
    command: model(),
  },
  {
    name: 'everybody waits for a store that hangs',
    rule: 'cache P9',
    file: `${CACHE}/persistence.ts`,
    line: 'const timer = clock.setTimer(onTime, limitMs);',
    replacement: 'const timer = clock.setTimer(onTime, limitMs * 1_000);',
    command: model(),
  },
  {
    name: 'a page writes over what another has stored',
    rule: 'cache P4',
    file: `${CACHE}/transaction.ts`,
    line: 'const current = there && !ledger.isOutdated(id, there) ? there : undefined;',
    replacement: 'const current = there && ledger.isOutdated(id, there) ? there : undefined;',
    command: model(),
  },
  {
    name: 'an update leaves what lags behind it in',
    rule: 'cache P1',
    file: `${CACHE}/fences.ts`,
    line: "return updatedAt > 0 && !(isStrongest && began >= updatedAt) ? 'update' : 'none';",
    replacement: "return updatedAt > began ? 'update' : 'none';",
    command: model(),
  },
  {
    name: 'an update does not keep out what was read before',
    rule: 'cache P1',
    file: `${CACHE}/committed-views.ts`,
    line: "this.#fences.raise('update', scope, this.tick());",
    replacement: '',
    command: model(),
  },
  {
    name: 'an update is told before the store has heard of it',
    rule: 'cache P1',
    file: `${CACHE}/cache-binding.ts`,
    line: 'this.#persistence.fence(update);',
    replacement: '',
    command: model(),
  },
  {
    name: 'of two that nothing tells apart, the one that was there stays',
    rule: 'cache P2',
    file: `${CACHE}/committed-views.ts`,
    line: "if (verdict === 'neither') this.#contest(id, next);",
    replacement: "if (verdict === 'neither') return;",
    command: model(),
  },
  {
    name: 'a weaker view takes the place of a stronger one',
    rule: 'cache P2',
    file: `${CACHE}/supersede.ts`,
    line: "if (next.rank >= current.rank && isLater) return 'take';",
    replacement: "if (isLater) return 'take';",
    command: model(),
  },
  {
    name: 'a store that could not be read is taken for an empty one',
    rule: 'cache P4',
    file: `${CACHE}/persistence.ts`,
    line: 'if (!this.#isRead) await this.#read();',
    replacement: '',
    command: model(),
  },
  {
    name: 'what an update replaces at a weaker level stays until it ends',
    rule: 'cache P1',
    file: `${CACHE}/cache-binding.ts`,
    line: 'return isLast ? this.#fence(this.#views.recordPromise(subject), context) : undefined;',
    replacement:
      'return isLast && Math.random() > 1 ? this.#fence(this.#views.recordPromise(subject), context) : undefined;',
    command: model(),
  },
];

const openings = ['vitest', 'run', '--project', 'unit', 'test/unit/bindings/cache/cache-openings.test.ts'];
const loads = ['vitest', 'run', '--project', 'unit', 'test/unit/bindings/cache/cache-loads.test.ts'];

/**
 * Those that show in about one schedule in a thousand, so that some runs of the model miss them: each has a test of its own.
 *
 * @type {readonly import('./listed.mjs').Mutant[]}
 */
export const CACHE_RARE_MUTANTS = [
  {
    name: 'the versions of a store count against what the page has learnt since',
    rule: 'cache P10',
    file: `${CACHE}/committed-views.ts`,
    line: "this.#supersede(learnt, { ...kept, knownAt: ELSEWHERE }, 'none');",
    replacement: "this.#supersede(learnt, kept, 'none');",
    command: loads,
  },
  {
    name: 'what has changed while the store was read comes back with it',
    rule: 'cache P1',
    file: `${CACHE}/committed-views.ts`,
    line: "if (this.#since(asOf, id, entry.touches) !== 'none') return;",
    replacement: '',
    command: loads,
  },
  {
    name: 'a session takes any later view for a newer one than the cache has shown it',
    rule: 'cache P3',
    file: `${CACHE}/session.ts`,
    line: 'return known.knownAt < view.began && (view.isStrongest || known.isFollowed);',
    replacement: 'return known.knownAt < view.began;',
    command: loads,
  },
  {
    name: 'a closed cache keeps its views in memory',
    rule: 'cache P5',
    file: `${CACHE}/committed-views.ts`,
    line: 'this.#expiry.stop();\n    this.forget();',
    replacement: 'this.#expiry.stop();',
    command: loads,
  },
  {
    name: 'what was read for a former user before the store was is written over what it has',
    rule: 'cache P4',
    file: `${CACHE}/persistence.ts`,
    line: 'this.#page = newPage();\n    this.#dropUncompared();',
    replacement: 'this.#page = newPage();',
    command: loads,
  },
  {
    name: 'a ledger is dropped where a later transaction has been heard of',
    rule: 'cache P1',
    file: `${CACHE}/persistence.ts`,
    line: '    this.#ledger = ledger;\n    this.#seen',
    replacement: '    if (ledger.seq >= this.#seen) this.#ledger = ledger;\n    this.#seen',
    command: loads,
  },
  {
    name: 'nobody is taken for whoever was there last',
    rule: 'cache P5',
    file: `${CACHE}/cache-binding.ts`,
    line: 'const isAnother = this.#hasAskedWho && this.#principal !== present;',
    replacement: 'const isAnother = this.#hasAskedWho && present !== undefined && this.#principal !== present;',
    command: loads,
  },
  ...[
    {
      name: 'a refused batch forgets what has changed',
      rule: 'cache P1',
      file: `${CACHE}/persistence.ts`,
      line: 'changes: [...changes, ...since.changes]',
      replacement: 'changes: since.changes',
    },
    {
      name: 'a refused batch is written as if it came after what has changed since',
      rule: 'cache P1',
      file: `${CACHE}/persistence.ts`,
      line: 'for (const change of since.changes) this.#withdraw(again, change);',
      replacement: '',
    },
    {
      name: 'what another page tells of does not count as known',
      rule: 'cache P4',
      file: `${CACHE}/persistence.ts`,
      line: 'this.#seen = Math.max(this.#seen, notice.seq);',
      replacement: '',
    },
    {
      name: 'what a page reads as it opens is from before every update',
      rule: 'cache P4',
      file: `${CACHE}/persistence.ts`,
      line: 'return Math.max(seq, log.endedBefore(at, read));',
      replacement: 'return seq;',
    },
    {
      name: 'what a page reads as it opens is from after every update',
      rule: 'cache P4',
      file: `${CACHE}/transaction-log.ts`,
      line: 'if (!(atMs < moment.wallMs - SLACK_MS)) break;',
      replacement: '',
    },
    {
      name: 'a clock that was set meanwhile says what came first',
      rule: 'cache P4',
      file: `${CACHE}/transaction-log.ts`,
      line: 'if (!(Math.abs(wasSetByMs) < SLACK_MS)) return 0;',
      replacement: '',
    },
  ].map((mutant) => ({ ...mutant, command: openings })),
  {
    name: 'forgotten fences bind nothing',
    rule: 'cache P1',
    file: `${CACHE}/fences.ts`,
    line: 'this.#floor = Math.max(this.#floor, markedAt);',
    replacement: '',
    command: ['vitest', 'run', '--project', 'unit', 'test/unit/bindings/cache/fences.test.ts'],
  },
];
