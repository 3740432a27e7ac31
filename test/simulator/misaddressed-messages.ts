/** Sites that mistake others: which start of one has sent a message, and whose stamps are whose. */
import type { Origin } from '../../src/server/records/origin.ts';
import type { BlueMessage } from '../../src/server/records/records.ts';
import { BluePath } from '../../src/server/replica/causal/blue-path.ts';
import { Replica } from '../../src/server/replica/replica.ts';
import type { RecoveredReplica } from '../../src/server/replica/replica-recovery.ts';
import { MessageFilter } from '../../src/server/messages/message-filter.ts';
import type { MessageFilterOptions } from '../../src/server/messages/message-filter.ts';
import { SiteMachine } from '../../src/server/site/site-machine.ts';
import type { SiteOptions } from '../../src/server/site/site-options.ts';
import type { MachineFactory } from '../../src/testing/simulator/simulated-site-options.ts';

const withDoor =
  (Broken: new (options: MessageFilterOptions) => MessageFilter): MachineFactory =>
  (options, stored, nowMs, wallMs) => {
    class Machine extends SiteMachine {
      protected override createMessageFilter(door: MessageFilterOptions): MessageFilter {
        return new Broken(door);
      }
    }
    return new Machine(options, stored, nowMs, wallMs);
  };

/** Takes whatever comes from a site, whichever start of it has sent that. */
class TimelessDoor extends MessageFilter {
  protected override isCurrent(): boolean {
    return true;
  }
}

/**
 * Takes the ordinal of a site for its index in the list of sites, which holds the progress of
 * another site.
 */
class MisplacedBluePath extends BluePath {
  protected override onHave(from: Origin, message: BlueMessage & { kind: 'blue.have' }): void {
    super.onHave(from, { ...message, synced: message.synced.slice(1) });
  }
}

class MisplacedReplica extends Replica {
  protected override createBluePath(): BluePath {
    return new MisplacedBluePath(this, this.onBlueApplied);
  }
}

class MisplacedMachine extends SiteMachine {
  protected override createReplica(
    site: SiteOptions,
    stored: RecoveredReplica,
    nowMs: number,
    wallMs: number,
  ): Replica {
    return new MisplacedReplica(site, stored, nowMs, wallMs);
  }
}

/** What can be mistaken, by name. */
export const MISADDRESSED_MESSAGES = {
  starts: withDoor(TimelessDoor),
  origins: (...args: Parameters<MachineFactory>) => new MisplacedMachine(...args),
} satisfies Readonly<Record<string, MachineFactory>>;
