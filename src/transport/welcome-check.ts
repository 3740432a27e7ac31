/** Whether a server that lets the client in is one that it was written for. */
import { CorrectableError } from '../correctable/errors.ts';
import { PROTOCOL_VERSION } from '../protocol/version.ts';
import type { Welcome } from '../protocol/welcome.ts';
import type { ConnectionTarget } from './options.ts';

/** What keeps the client from this server, if anything does. Contracts of one name may differ by their operations. */
export function misfitOf(
  { version, levels, contract }: Welcome,
  target: ConnectionTarget,
): CorrectableError | undefined {
  if (version !== PROTOCOL_VERSION || levels.join('\n') !== target.levels.join('\n')) {
    const message = `the server speaks version ${version} with levels ${levels.join()}; this client needs ${PROTOCOL_VERSION} with ${target.levels.join()}`;
    return new CorrectableError('PROTOCOL', message);
  }
  if (target.contract === undefined || target.contract.name === contract?.name) return undefined;
  const message = `the server has the contract ${contract?.name ?? 'none'}; this client needs ${target.contract.name}`;
  return new CorrectableError('PROTOCOL', message);
}
