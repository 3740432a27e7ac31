/** What nodes of the tests say to a read, and what the read then shows. */
import type { Script } from './scripted-node.ts';

export const answer: Script = ({ stream }, peer) => {
  peer.rows(stream, ['a'], { icg: 1 });
  peer.confirm(stream);
};
export const VIEWS = ['preliminary a', 'confirm'];
/** What the plain way of the tests says. */
export const PLAIN_VIEWS = ['preliminary plain', 'final plain'];
