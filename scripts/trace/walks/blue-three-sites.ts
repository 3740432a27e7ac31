import { startServerWalk } from './server.ts';
import type { StartWalk } from './walk.ts';

/** Three sites in one process: from the frame at one of them until all three have the update. */
export const startWalk: StartWalk = async () => ({
  ...(await startServerWalk('renameAccount', { siteCount: 3 })),
  quietMs: 25,
});
