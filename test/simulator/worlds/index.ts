/** The services that runs are made with. */
import type { Service } from '../../../src/server/service/service.ts';
import type { WorldName } from '../../../src/testing/simulator/options.ts';
import { classicWorld } from './classic.ts';
import { generatedWorld } from './generated.ts';
import { rightsWorld } from './rights.ts';
import { rosterWorld } from './roster.ts';
import type { World } from '../../../src/testing/simulator/world.ts';

/** A world by its name; `service` takes the place of the classic one, to plant a fault. */
export function worldOf(name: WorldName, seed: number, service?: Service): World {
  if (name === 'roster') return rosterWorld();
  if (name === 'rights') return rightsWorld();
  return name === 'generated' ? generatedWorld(seed) : classicWorld(service);
}
