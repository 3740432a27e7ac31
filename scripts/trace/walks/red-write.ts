import { startServerWalk } from './server.ts';
import type { StartWalk } from './walk.ts';

/** Three sites in one process: from the frame at a site that does not lead, over the red log. */
export const startWalk: StartWalk = () => startServerWalk('withdrawCents', { siteCount: 3 });
