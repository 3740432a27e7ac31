/** Sites that mistake others: which start of one has sent a message, and whose stamps are whose. */
import type { Stamp } from '../../server/records/effect.ts';
import type { Origin } from '../../server/records/origin.ts';
import type { BlueOperation } from '../../server/records/records.ts';
import { SiteState } from '../../server/replica/core/site-state.ts';
import { Replica } from '../../server/replica/replica.ts';
import type { StoredReplica } from '../../server/replica/replica.ts';
import { MessageDoor } from '../../server/messages/message-door.ts';
import type { MessageDoorOptions } from '../../server/messages/message-door.ts';
import { SiteMachine } from '../../server/site/site-machine.ts';
import type { SiteOptions } from '../../server/site/site-machine.ts';
import type { MachineFactory } from './simulated-site.ts';

const withDoor =
  (Broken: new (options: MessageDoorOptions) => MessageDoor): MachineFactory =>
  (options, stored, nowMs, wallMs) => {
    class Machine extends SiteMachine {
      protected override createDoor(door: MessageDoorOptions): MessageDoor {
        return new Broken(door);
      }
    }
    return new Machine(options, stored, nowMs, wallMs);
  };

/** Takes whatever comes from a site, whichever start of it has sent that. */
class TimelessDoor extends MessageDoor {
  protected override isCurrent(): boolean {
    return true;
  }
}

/** Takes the ordinal of a site for its place in the list of sites: the first one's stamps are those of the red order then. */
class MisplacedState extends SiteState {
  protected override stampOf(operation: BlueOperation): Stamp {
    const stamp = super.stampOf(operation);
    return { ...stamp, entry: (stamp.entry - 1) as Origin };
  }
}

class MisplacedReplica extends Replica {
  protected override createState(): SiteState {
    return new MisplacedState(this.options.service, this.options.origins, { name: this.name });
  }
}

class MisplacedMachine extends SiteMachine {
  protected override createReplica(site: SiteOptions, stored: StoredReplica, nowMs: number, wallMs: number): Replica {
    return new MisplacedReplica(site, stored, nowMs, wallMs);
  }
}

/** What can be mistaken, by name. */
export const MISTAKEN = {
  starts: withDoor(TimelessDoor),
  origins: (...args: Parameters<MachineFactory>) => new MisplacedMachine(...args),
} satisfies Readonly<Record<string, MachineFactory>>;
