/**
 * Sites of a case study that are up for several loads, one after the other, with users at all five
 * of the paper's places.
 */
import type { CaseStudy, Mix } from '../case-study.ts';
import { doorsEverywhere } from '../deployment.ts';
import { Tally, type RunFigures } from '../figures.ts';
import { openStudy, soundnessOf, workFor } from '../run.ts';
import type { Interaction } from '../user.ts';

/** The users of a load, and how long they work. */
export interface Load {
  readonly mix: Mix;
  /** At each place, each with one click under way at any time. */
  readonly users: number;
  readonly seconds: number;
}

/** What came of it. */
export interface Loaded<L extends Load> {
  readonly load: L;
  readonly interactions: readonly Interaction[];
  readonly figures: RunFigures;
}

interface Setting {
  readonly study: CaseStudy;
  readonly sites: number;
  readonly scale: number;
  readonly seed: number;
}

/** @throws Error where an invariant is broken, or sites differ at the end */
export async function runLoads<L extends Load>(
  setting: Setting,
  loads: readonly L[],
): Promise<readonly Loaded<L>[]> {
  const { study, scale, seed } = setting;
  const running = await openStudy({ ...setting, wan: 'paper' });
  try {
    const users = doorsEverywhere(running.doors);
    const done: Loaded<L>[] = [];
    for (const [at, load] of loads.entries()) {
      const stats = new Tally();
      const interactions: Interaction[] = [];
      const onInteraction = (interaction: Interaction): void => {
        stats.add(interaction);
        interactions.push(interaction);
      };
      // Each load has its own users, so that no name is registered twice.
      const work = { study, scale, think: 0, seed: seed * loads.length + at, onInteraction };
      const seconds = await workFor(users, { ...load, ...work });
      done.push({ load, interactions, figures: stats.figures(seconds) });
    }
    const { sound, ...found } = await soundnessOf(study, running);
    if (!sound) throw new Error(`${study.name}: not sound: ${JSON.stringify(found)}`);
    return done;
  } finally {
    await running.close();
  }
}
