/** Replicas that each break one rule of rights (docs/spec/rights.md). */
import type { Ledger } from '../../src/server/service/fields/ledger.ts';
import type { RightsNeed } from '../../src/server/service/bounded-takes.ts';
import type { Origin } from '../../src/server/records/origin.ts';
import type { BlueOperation } from '../../src/server/records/records.ts';
import { SiteState } from '../../src/server/replica/core/site-state.ts';
import { Replica } from '../../src/server/replica/replica.ts';
import { RightsRequests } from '../../src/server/replica/rights/rights-requests.ts';
import { Rights } from '../../src/server/replica/rights/rights.ts';
import type { SiteOptions } from '../../src/server/site/site-options.ts';
import type { StateReader } from '../../src/server/state/store.ts';
import type { MachineFactory } from '../../src/testing/simulator/simulated-site-options.ts';
import { withReplica } from './buggy-replicas.ts';

const resolveRights = (Broken: typeof Rights): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createRights(): Rights {
        return new Broken(this, this.blue, this.red, this.name);
      }
    },
  );

const withState = (make: (options: SiteOptions, name: string) => SiteState): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createState(): SiteState {
        return make(this.options as SiteOptions, this.name);
      }
    },
  );

/** Decides by what is applied: its own takes that are not synced it does not see. */
class ForgetfulRights extends Rights {
  protected override mayTake({ table, key, field, amount }: RightsNeed): boolean {
    const { state, options } = this.core;
    return amount <= (state.store.read(table, key, field) as Ledger).getHolding(options.site);
  }
}

/** A red take draws on all rights, whichever site holds them. */
class GreedyRights extends Rights {
  protected override getPool({ table, key, field }: RightsNeed, state: StateReader): number {
    return (state.read(table, key, field) as Ledger).left;
  }
}

/** What it has asked once it never asks again before something comes. */
class PatientRights extends Rights {
  protected override createRequests(): RightsRequests {
    return new RightsRequests({ ...this.core.options, resendAfterMs: Infinity });
  }
}

/** Transfers of others take effect so many times. */
class RepeatingState extends SiteState {
  readonly #site: Origin;
  readonly #times: number;

  constructor({ service, origins, site }: SiteOptions, identifierPrefix: string, times: number) {
    super(service, origins, { identifierPrefix, site });
    this.#site = site;
    this.#times = times;
  }

  override applyBlue(operation: BlueOperation): void {
    if (operation.site === this.#site) return super.applyBlue(operation);
    const effects = operation.effects.flatMap((effect) =>
      effect.action === 'transfer' ? Array.from({ length: this.#times }, () => effect) : [effect],
    );
    super.applyBlue({ ...operation, effects });
  }
}

/** Machines by their fault. */
export const BUGGY_RIGHTS = {
  forgetful: resolveRights(ForgetfulRights),
  greedy: resolveRights(GreedyRights),
  patient: resolveRights(PatientRights),
  created: withState((options, name) => new RepeatingState(options, name, 2)),
  lost: withState((options, name) => new RepeatingState(options, name, 0)),
} satisfies Readonly<Record<string, MachineFactory>>;
