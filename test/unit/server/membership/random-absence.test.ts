/**
 * Random work of sites that are away for longer than others keep anything for them, and take a state when they are back: all
 * have the same in the end, and nothing that was acknowledged is lost or counted twice.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCorrectableError } from '../../../../src/correctable/errors.ts';
import { scaleRuns } from '../../../support/lane.ts';
import { MemberWorld } from '../../../support/member-world.ts';
import { bank, bankService } from '../replica/services.ts';
import type { Outcome } from '../replica/sites.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(60));
const SITES = 4;

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...(['deposit', 'deposit', 'deposit', 'withdraw', 'crash', 'restart', 'idle', 'idle'] as const),
      ...(['lose', 'deliver', 'deliver', 'return', 'checkpoint'] as const),
    ),
    site: fc.nat(SITES - 1),
  }),
  { minLength: 10, maxLength: 60 },
);

type Step = { readonly kind: string; readonly site: number };

class Run {
  readonly world = new MemberWorld({
    service: bankService(),
    siteCount: SITES,
    maxAttempts: 5,
    absence: { maxBacklogEntries: 3, keepForMs: 100 },
  });
  readonly deposits: Outcome[] = [];
  readonly withdrawals: Outcome[] = [];
  /** States that were taken. */
  merges = 0;

  get running(): number[] {
    return [0, 1, 2, 3].filter((site) => this.world.machines[site] !== undefined);
  }

  apply({ kind, site }: Step): void {
    const { world } = this;
    const isRunning = world.machines[site] !== undefined;
    if (kind === 'deposit' && isRunning)
      this.deposits.push(world.submit(site, bank.deposit({ account: 'a', amount: 1 })));
    else if (kind === 'withdraw' && isRunning)
      this.withdrawals.push(world.submit(site, bank.withdraw({ account: 'a', amount: 1 })));
    else if (kind === 'crash' && site !== 0) world.crash(site);
    else if (kind === 'restart' && !isRunning) world.start(site);
    else if (kind === 'idle') world.pass(60);
    else if (kind === 'lose') world.drop(({ to }) => to === site);
    else if (kind === 'deliver') {
      for (const each of this.running) world.sync(each);
      world.deliver(({ to }) => to !== site);
    } else if (kind === 'checkpoint' && isRunning && site !== 0) {
      // It goes on from what it has, with a checkpoint.
      const checkpoint = world.saveCheckpoint(site);
      world.crash(site);
      const { local, red } = world.copyStored(site);
      world.start(site, { local, red, checkpoint });
    } else if (kind === 'return') this.mergeBehind();
  }

  /** Those that are behind take the state of the first that may give it. */
  mergeBehind(): void {
    const { world } = this;
    for (const site of this.running.filter((each) => world.isBehind(each))) {
      for (const donor of this.running.filter((each) => each !== site && !world.isBehind(each))) {
        try {
          world.merge(site, donor);
          this.merges += 1;
          break;
        } catch (error) {
          if (!isCorrectableError(error)) throw error;
          world.start(site);
        }
      }
    }
  }

  finish(): void {
    for (let round = 0; round < 6; round += 1) {
      for (const site of [1, 2, 3]) this.apply({ kind: 'restart', site });
      this.world.pass(400);
      this.mergeBehind();
    }
    this.world.pass(400);
  }
}

test('sites that were left behind, at random → all have the same, and nothing is lost or done twice', () => {
  let merges = 0;
  fc.assert(
    fc.property(steps, (chosen) => {
      const run = new Run();
      for (const step of chosen) run.apply(step);
      run.finish();
      const { world, deposits, withdrawals } = run;
      merges += run.merges;
      for (const site of [1, 2, 3]) expect(world.stateAt(site)).toEqual(world.stateAt(0));
      const count = (outcomes: readonly Outcome[], isDone: (value: unknown) => boolean): number =>
        outcomes.filter(({ value }) => isDone(value)).length;
      const paid = (value: unknown): boolean => (value as { paid?: boolean } | undefined)?.paid === true;
      const balance = world.read(0, bank.balance({ account: 'a' })) as number;
      // What has no answer may have been done, once.
      const unanswered = (outcomes: readonly Outcome[]): number =>
        outcomes.filter(({ value }) => value === undefined).length;
      expect(balance).toBeGreaterThanOrEqual(
        count(deposits, (value) => value === null) - count(withdrawals, paid) - unanswered(withdrawals),
      );
      expect(balance).toBeLessThanOrEqual(
        count(deposits, (value) => value === null) + unanswered(deposits) - count(withdrawals, paid),
      );
      expect([world.halted, world.events]).toEqual([[], []]);
    }),
    { numRuns: RUNS },
  );
  expect(merges).toBeGreaterThan(0);
});
