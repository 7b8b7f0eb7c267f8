import { Permission as permissions } from '../prisma/generated/client/enums.ts';
import { builder } from './builder.ts';

/** The permissions that an API key can have. Each permission allows certain operations. */
export const Permission = builder.enumType(permissions, {
  name: 'Permission',
  description: 'A permission, which allows an API key to use certain operations.',
  values: {
    REGISTER_COMPANIES: { description: 'Register companies.' },
    READ_COMPANIES: { description: 'Read companies.' },
    WRITE_COMPANIES: { description: 'Change companies.' },
    READ_LOCATIONS: { description: 'Read locations.' },
    WRITE_LOCATIONS: { description: 'Create and change locations.' },
    READ_WHITELIST: { description: 'Read whitelists, and ask whether a vehicle may enter.' },
    WRITE_WHITELIST: { description: 'Create, change, delete and import whitelist entries.' },
    READ_STATUS: { description: 'Read the status of locations: occupancy and capacity.' },
    READ_ACTIVITY: { description: 'Read parking events and sessions.' },
    WRITE_ACTIVITY: { description: 'Record parking events.' },
    MANAGE_WEBHOOKS: { description: 'Manage the webhooks of a company.' },
    RECEIVE_WEBHOOKS: { description: 'Pull webhook messages, and acknowledge the pulled messages.' },
    ADMIN: { description: 'Manage API keys and read the audit log.' },
  },
});
