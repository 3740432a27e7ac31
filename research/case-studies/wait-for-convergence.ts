/** Waiting until each site has what the others have shown, and looking at all of them then. */
import type { Operation, Session } from 'correctables';
import type { Audit, CaseStudy } from './case-study.ts';
import type { SiteDoor } from './deployment.ts';
import { CountingStore } from './user.ts';

type Doors = readonly SiteDoor[];

/**
 * Resolves once every site shows all that any of them had shown before the call.
 *
 * @returns sessions that have seen it, one a site, to be closed
 */
async function caughtUp(study: CaseStudy, doors: Doors): Promise<readonly Session[]> {
  const seen = await Promise.all(
    doors.map(async ({ client }) => {
      using session = client.session();
      await lookOnce(study, new CountingStore(client, session));
      return session.tokens;
    }),
  );
  return Promise.all(
    doors.map(async ({ client }) => {
      const session = client.session({ tokens: seen.flat() });
      await lookOnce(study, new CountingStore(client, session));
      return session;
    }),
  );
}

/** Waits until each site has what the others have. */
export async function whenCaughtUp(study: CaseStudy, doors: Doors): Promise<void> {
  for (const session of await caughtUp(study, doors)) session.close();
}

/** What each site shows once it has caught up with the others, while nothing is under way. */
export async function auditEverywhere(study: CaseStudy, doors: Doors): Promise<readonly Audit[]> {
  const sessions = await caughtUp(study, doors);
  try {
    return await Promise.all(
      doors.map(({ client }, at) =>
        study.audit(new CountingStore(client, sessions[at] as Session)),
      ),
    );
  } finally {
    for (const session of sessions) session.close();
  }
}

/** Any read will do: the first one of a look at all data is one. */
async function lookOnce(study: CaseStudy, store: CountingStore): Promise<void> {
  const enough = new Error('one read is enough');
  const once = async <T>(operation: Operation<T>): Promise<T> => {
    await store.ask(operation);
    throw enough;
  };
  await study.audit({ ask: once }).catch((error: unknown) => {
    if (error !== enough) throw error;
  });
}
