/** Connections of Node that report their end. */
import type { ConnectionLike } from './session-tokens.ts';
import type { ClientWatch } from './view-reply.ts';

/** Watches for the end of a connection, or of a response. It may have ended before. */
export function watchClose(
  connection: Pick<ConnectionLike, 'on' | 'off'>,
  hasEnded: () => boolean,
): ClientWatch {
  return (leave) => {
    const onClose = (): void => leave();
    if (hasEnded()) onClose();
    connection.on('close', onClose);
    return () => connection.off('close', onClose);
  };
}
