/**
 * Which mutant is on, in an instrumented copy. Its state stands beside all modules, because they are loaded anew for each
 * mutant; processes and threads that a test starts learn it from their environment.
 */
const key = Symbol.for('correctables.mutant');

/**
 * `hits` are the mutants that the test under way meets; `reached` says how often each is met in the test file as it is.
 *
 * @type {{
 *   active: number,
 *   hits: Set<number> | undefined,
 *   reached: Map<number, number> | undefined,
 *   count: number,
 *   limit: number,
 * }}
 */
export const state = (globalThis[key] ??= {
  active: Number(globalThis.process?.env?.CORRECTABLES_MUTANT ?? 0),
  hits: undefined,
  reached: undefined,
  count: 0,
  limit: Number.POSITIVE_INFINITY,
});

/** @type {(id: number) => boolean} */
export function isMutant(id) {
  state.hits?.add(id);
  state.reached?.set(id, (state.reached.get(id) ?? 0) + 1);
  if (id !== state.active) return false;
  state.count += 1;
  // What would go round for ever ends here.
  if (state.count > state.limit) throw new Error('a mutant was reached far more often than any test needs');
  return true;
}
