import { Permission as permissions } from '../prisma/generated/client/enums.ts';
import { builder } from './builder.ts';

/** The permissions of an API key. Each permission allows some operations. */
export const Permission = builder.enumType(permissions, {
  name: 'Permission',
  description: 'An operation that a key may use.',
  values: {
    REGISTER_COMPANIES: { description: 'Register companies.' },
    READ_COMPANIES: { description: 'Read companies.' },
    WRITE_COMPANIES: { description: 'Change companies.' },
    READ_LOCATIONS: { description: 'Read locations.' },
    WRITE_LOCATIONS: { description: 'Create and change locations.' },
    READ_WHITELIST: { description: 'Read whitelists and ask whether a plate may enter.' },
    WRITE_WHITELIST: { description: 'Create, change, delete and import whitelist entries.' },
    READ_STATUS: { description: 'Read the status of locations: occupancy and capacity.' },
    READ_ACTIVITY: { description: 'Read parking events and sessions.' },
    WRITE_ACTIVITY: { description: 'Record parking events.' },
    MANAGE_WEBHOOKS: { description: 'Manage the webhooks of a company.' },
    RECEIVE_WEBHOOKS: { description: 'Pull and acknowledge the messages of webhooks.' },
    ADMIN: { description: 'Manage keys and read the audit log.' },
  },
});
