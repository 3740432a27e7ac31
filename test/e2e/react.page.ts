/** What the page of the tests of `correctables/react` runs: each scenario by its name. */
import { runScenario, SCENARIOS } from '../support/react/scenarios.ts';

Object.assign(globalThis, { runScenario, names: Object.keys(SCENARIOS) });
