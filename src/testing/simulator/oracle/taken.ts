/** What a site does not take of a generator: such an operation fails at once, and has to fail on the model too. */
import { checkPortable } from '../../../protocol/codec/check-portable.ts';
import type { Choice, Reply } from '../../../server/records/reply.ts';
import { KnownEffects } from '../../../server/service/known-effects.ts';
import type { Service } from '../../../server/service/service.ts';
import { takesOf } from '../../../server/service/takes.ts';

/** @throws Error saying what is wrong with it */
export function checkTaken(service: Service, operation: string, choice: Choice): void {
  const { shadow, colour, effects } = choice;
  if (colour !== 'red' && colour !== service.colours[shadow]) throw new Error(`'${shadow}' is none of that colour`);
  const known = new KnownEffects(service.tables);
  for (const effect of effects) {
    const problem = known.problemOfChosen(effect);
    if (problem !== undefined) throw new Error(problem);
    if (colour === 'blue' && known.isBarredFromBlue(effect)) throw new Error(`'${shadow}' is blue and may not`);
    for (const part of [effect.table, effect.key, effect.field, effect.action, effect.value])
      checkPortable(part, 'effects');
    if (typeof effect.key !== 'string') throw new Error('the key of a row is text');
  }
  if (colour === 'red') checkPortable(choice.args, 'shadow');
  const mayWait = colour === 'red' || takesOf(service.tables, effects).length > 0;
  const isDeclaredBlue = service.contract.operations[operation]?.colour === 'blue';
  if (isDeclaredBlue && mayWait) throw new Error(`it is declared blue, and '${shadow}' may have to wait`);
}

/** @throws Error as `checkTaken` */
export function takenReply(reply: Reply): Reply {
  checkPortable(reply.value, 'result');
  if (reply.meta !== undefined) checkPortable(reply.meta, 'meta');
  return reply;
}

/** `local()` is for what could have been answered early. @throws Error as `checkTaken` */
export function checkMayBeLocal({ contract }: Service, operation: string): void {
  if (contract.operations[operation]?.colour === 'red') throw new Error('it is declared red and said local()');
}
