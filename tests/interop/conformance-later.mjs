/* The auth scenarios of the conformance suite that mcpsplice does not do
 * yet. */
export const later = ['enterprise-managed-authorization', 'wif-jwt-bearer',
    'dpop', 'dpop-nonce'];
