/**
 * The ad server's service for the RedBlue backend. References and ads are registers, so changing
 * them is blue: it commits at the nearest site, final at `causal`. A read has a causal view at
 * once, and a strong view after a round trip through the red order. The strong view shows what the
 * site has at that time. A change that was made at another site meanwhile may not have arrived yet.
 */
import { blue, defineService, register, table } from 'correctables/server';
import { adContract, type Ad } from './contract.ts';

export const service = defineService(adContract, {
  tables: {
    profiles: table({ refs: register<readonly string[]>() }),
    ads: table({ ad: register<Ad>() }),
  },
  shadowOperations: ({ profiles, ads }) => ({
    writeProfiles: blue((args: { profiles: readonly { uid: string; refs: readonly string[] }[] }) =>
      args.profiles.map(({ uid, refs }) => profiles.row(uid).refs.write(refs)),
    ),
    writeAds: blue((args: { ads: readonly Ad[] }) =>
      args.ads.map((ad) => ads.row(ad.id).ad.write(ad)),
    ),
  }),
  generators: {
    getPersonalizedAdsRefs: ({ uid }, { tables }) => [...(tables.profiles.row(uid).refs ?? [])],
    getAd: ({ id }, { tables }) => tables.ads.row(id).ad ?? null,
    getAds: ({ ids }, { tables }) => ids.map((id) => tables.ads.row(id).ad ?? null),
    putProfiles: (args, { shadow }) => shadow.writeProfiles(args, undefined),
    putAds: (args, { shadow }) => shadow.writeAds(args, undefined),
  },
});
