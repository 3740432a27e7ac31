import { startServerWalk } from './server.ts';
import type { StartWalk } from './walk.ts';

/** One site with a data directory: from the frame of the client to the disk, and to the answer. */
export const startWalk: StartWalk = () => startServerWalk('renameAccount', { siteCount: 1 });
