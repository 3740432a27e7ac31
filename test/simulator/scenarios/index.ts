/** The services that runs are made with. */
import type { Service } from '../../../src/server/service/service.ts';
import type { SimulationOptions } from '../../../src/testing/simulator/options.ts';
import { classicScenario } from './classic.ts';
import { generatedScenario } from './generated.ts';
import { rightsScenario } from './rights.ts';
import { rosterScenario } from './roster.ts';
import type { Scenario } from '../../../src/testing/simulator/scenario.ts';

/** A world by its name; `service` takes the place of the classic one, to plant a fault. */
export function getScenario(
  { scenario: name, maxLogs }: SimulationOptions,
  seed: number,
  service?: Service,
): Scenario {
  if (name === 'roster') return rosterScenario();
  if (name === 'rights') return rightsScenario(maxLogs > 1);
  return name === 'generated' ? generatedScenario(seed) : classicScenario(maxLogs > 1, service);
}
