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
 * The scenarios that keep a page busy, by name. On one page with these, React
 * may mount a component later than its read waits for that, and the read is
 * sent again.
 */
export const BUSY_SCENARIOS: readonly string[] = Object.keys(failingBesideSlowRows);

export async function runScenario(name: string): Promise<void> {
  const stage = openStage();
  try {
    await SCENARIOS[name]!(stage);
  } finally {
    stage.close();
    await stage.client.close();
  }
}
