/** What the page of the tests of `correctables/react` runs: all scenarios. */
import {
  CONCURRENT_SCENARIOS,
  EXCLUSIVE_SCENARIOS,
  runScenario,
} from '../support/react/scenarios.ts';

export interface ScenarioResult {
  readonly name: string;
  /** Undefined if the scenario has passed. */
  readonly error?: string;
}

async function run(name: string): Promise<ScenarioResult> {
  try {
    await runScenario(name);
    return { name };
  } catch (error) {
    return { name, error: String(error) };
  }
}

/**
 * How many scenarios run at once. All at once, React takes seconds to mount a component on a slow
 * machine.
 */
const CONCURRENCY = 12;

/** Runs the exclusive scenarios one by one, after all others. */
export async function runScenarios(): Promise<readonly ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  const runAll = async (names: Iterable<string>): Promise<void> => {
    for (const name of names) results.push(await run(name));
  };
  // All take their next scenario from one iterator.
  const queue = CONCURRENT_SCENARIOS.values();
  await Promise.all(Array.from({ length: CONCURRENCY }, () => runAll(queue)));
  await runAll(EXCLUSIVE_SCENARIOS);
  return results;
}

Object.assign(globalThis, { runScenarios });
