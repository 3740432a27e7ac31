/** What makes a client and a gateway unfit for each other. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Hello } from '../../../protocol/rows/hello.ts';
import { PROTOCOL_VERSION } from '../../../protocol/codec/version.ts';
import type { GatewayHost } from '../host/host.ts';

/** Why this client cannot be served, if so. */
export function refuseHello(hello: Hello, { levels, catalogue }: GatewayHost): CorrectableError | undefined {
  if (hello.version !== PROTOCOL_VERSION) {
    const message = `the server speaks version ${PROTOCOL_VERSION} of the protocol, the client ${hello.version}: update the older`;
    return new CorrectableError('PROTOCOL', message, { field: 'hello.version' });
  }
  if (hello.levels.join('\n') !== levels.join('\n')) {
    const message = `the store has the levels ${levels.join(' < ')}, the client expects ${hello.levels.join(' < ')}`;
    return new CorrectableError('PROTOCOL', message, { field: 'hello.levels' });
  }
  const { contract } = hello;
  if (contract === undefined || contract.name === catalogue?.name) return undefined;
  const found = catalogue === undefined ? 'no contract' : `the contract ${catalogue.name}`;
  const message = `the server has ${found}, the client expects ${contract.name}: connect to a server of that contract`;
  return new CorrectableError('PROTOCOL', message, { field: 'hello.contract' });
}
