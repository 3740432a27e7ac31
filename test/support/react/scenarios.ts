/** All scenarios of `correctables/react`, by name. Each rejects with what differs. */
import { failing, failingBesideSlowRows } from './failing.ts';
import { reading, type Scenario } from './reading.ts';
import { serverRendering } from './server-rendering.ts';
import { openStage } from './stage.ts';
import { writing } from './writing.ts';

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...reading,
  ...failing,
  ...failingBesideSlowRows,
  ...writing,
  ...serverRendering,
};

/**
 * The scenarios that need the page for themselves, by name. Some keep it busy: React may then mount a component later than its
 * read waits for that, and the read is sent again. Others render for a server: if React does so in the middle of another
 * rendering on the page, components get the values of the wrong provider.
 */
export const EXCLUSIVE_SCENARIOS: readonly string[] = Object.keys({ ...failingBesideSlowRows, ...serverRendering });

/** All others. They can run at the same time. */
export const CONCURRENT_SCENARIOS: readonly string[] = Object.keys(SCENARIOS).filter(
  (name) => !EXCLUSIVE_SCENARIOS.includes(name),
);

export async function runScenario(name: string): Promise<void> {
  const stage = openStage();
  try {
    await SCENARIOS[name]!(stage);
  } finally {
    stage.close();
    await stage.client.close();
  }
}
