/** The ad server's page with what it stands on: the sites, and content at `/content`. */
import type { RunningPage } from '../shared/chase/cli.ts';

export async function startAdPage(): Promise<RunningPage> {
  throw new Error('no page yet');
}
