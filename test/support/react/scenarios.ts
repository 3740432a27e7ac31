/** All scenarios of `correctables/react`, by name. Each rejects with what differs. */
import { failing } from './failing.ts';
import { reading, type Scenario } from './reading.ts';
import { serverRendering } from './server-rendering.ts';
import { openStage } from './stage.ts';
import { writing } from './writing.ts';

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...reading,
  ...failing,
  ...writing,
  ...serverRendering,
};

export async function runScenario(name: string): Promise<void> {
  const stage = openStage();
  try {
    await SCENARIOS[name]!(stage);
  } finally {
    stage.close();
    await stage.client.close();
  }
}
