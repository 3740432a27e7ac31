/** Doors to other sites that let in what they should not. */
import { MessageDoor } from '../../server/messages/message-door.ts';
import type { MessageDoorOptions } from '../../server/messages/message-door.ts';
import { SiteMachine } from '../../server/site/site-machine.ts';
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

/** What a door can be broken by, by name. */
export const BROKEN_DOORS = { timeless: withDoor(TimelessDoor) } satisfies Readonly<Record<string, MachineFactory>>;
