/** All scenarios of `correctables/react`, by name. Each rejects with what differs. */
import { failing, failingBesideSlowRows } from './failing.ts';
import { pageEvents } from './page-events.ts';
import { reading, type Scenario } from './reading.ts';
import { serverRendering } from './server-rendering.ts';
import { openStage } from './stage.ts';
import { writing } from './writing.ts';

const concurrent = { ...reading, ...failing, ...writing };

/**
 * Scenarios that need the page for themselves. Some keep it busy: React may then mount a component
 * later than its read waits for that, and the read is sent again. Others render for a server: if
 * React does so in the middle of another rendering on the page, components get the values of the
 * wrong provider. Others dispatch events, which all components on the page get.
 */
const exclusive = { ...failingBesideSlowRows, ...pageEvents, ...serverRendering };

export const SCENARIOS: Readonly<Record<string, Scenario>> = { ...concurrent, ...exclusive };
export const CONCURRENT_SCENARIOS: readonly string[] = Object.keys(concurrent);
export const EXCLUSIVE_SCENARIOS: readonly string[] = Object.keys(exclusive);

export async function runScenario(name: string): Promise<void> {
  const stage = openStage();
  try {
    await SCENARIOS[name]!(stage);
  } finally {
    await stage.close();
  }
}
