/** What the workloads of all services have in common. */
import { pause } from '../histories/pause.ts';
import type { RoundBegun } from './history.ts';
import type { Step, User } from './user.ts';

/** What one round writes into. */
export type Scene = Pick<RoundBegun, 'seats' | 'keys' | 'queues' | 'total'>;

/** Draws what a user does next. */
export type Draw = (user: User, scene: Scene) => Step;

const INSIST_MAX = 30;

/** Calls until a step succeeds. Throws if it fails again and again. */
export async function insist(user: User, step: Step): Promise<void> {
  for (let attempt = 0; attempt < INSIST_MAX; attempt += 1) {
    const { outcome } = await user.call(step);
    if (outcome === 'success') return;
    await pause(500);
  }
  throw new Error(
    `${step.name} of ${step.key} failed ${INSIST_MAX} times while nothing was disturbed`,
  );
}

export function pick(user: User, names: readonly string[]): string {
  return user.random.pick(names as [string, ...string[]]);
}
