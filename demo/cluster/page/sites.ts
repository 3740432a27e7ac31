/**
 * Connects the page's retailers to the sites of the cluster. If a site fails, its retailers
 * continue at the nearest other one.
 */
import { createClient } from 'correctables';
import { SITES } from '../../../engines/wan.ts';
import { connectToSites } from '../../shared/site-connection.ts';
import { ticketShop } from '../../tickets/contract.ts';
import { PURCHASE_TIMEOUT_MS, type OpenSites } from '../../tickets/page/sites.ts';
import { waysFrom } from '../ways.ts';

export const openClusterSites: OpenSites = async (onStateChange) =>
  SITES.map((name) => {
    const connection = connectToSites(ticketShop, {
      urls: waysFrom(new URL('.', location.href).href, name),
      WebSocket,
      onStateChange: (state) => onStateChange(name, state),
    });
    return {
      name,
      get at() {
        return connection.at;
      },
      shop: createClient(connection.binding, { timeoutMs: PURCHASE_TIMEOUT_MS }),
      isCut: false,
    };
  });
