import type { people as german } from '../german/people.ts';

export const people: Readonly<Record<keyof typeof german, string>> = {
  ' Sign in to your existing account.': ' Inicie sesión con la cuenta que ya tiene.',
  ', with the role': ', con el rol',
  'Add this secret to your app, then type the code that it shows.':
    'Añada este secreto a su aplicación y escriba después el código que muestra.',
  Address: 'Dirección',
  'All your sessions have ended.': 'Todas sus sesiones han terminado.',
  'An authenticator app generates a code for each sign-in, so that a password alone is not enough.':
    'Una aplicación de autenticación crea un código para cada inicio de sesión, de modo que la contraseña sola no basta.',
  'Request a new password': 'Pedir una contraseña nueva',
  'At least 12 characters, such as four random words.':
    'Al menos 12 caracteres: bastan cuatro palabras al azar.',
  'Back to sign-in': 'Volver al inicio de sesión',
  Browser: 'Navegador',
  'Change the password': 'Cambiar la contraseña',
  'Choose a new password': 'Elegir una contraseña nueva',
  'Code from the app': 'Código de la aplicación',
  'Copy the secret': 'Copiar el secreto',
  'Current password': 'Contraseña actual',
  Email: 'Correo',
  'End all sessions of this person': 'Terminar todas las de esta persona',
  'Forgot your password? The operator creates a new link with':
    '¿Ha olvidado la contraseña? El operador crea un enlace nuevo con',
  'Go to the console': 'Ir a la consola',
  'I forgot my password': 'He olvidado mi contraseña',
  'If this address has an account, a mail with a link is on its way. The link works for an hour.':
    'Si esta dirección tiene una cuenta, hay un correo con un enlace en camino. El enlace funciona durante una hora.',
  Invitations: 'Invitaciones',
  Invite: 'Invitar',
  Join: 'Unirse',
  'Join {organization}': 'Unirse a {organization}',
  Members: 'Miembros',
  'New password': 'Contraseña nueva',
  'Nobody has an account yet. Invite yourself as an owner, and open the link.':
    'Nadie tiene cuenta todavía. Invítese como propietario y abra el enlace.',
  'From your authenticator app, or a recovery code.':
    'El de su aplicación de autenticación, o un código de recuperación.',
  Password: 'Contraseña',
  'Recovery codes: shown only once, and each works once':
    'Códigos de recuperación: se muestran solo esta vez y cada uno sirve una vez',
  'Remove the person': 'Quitar a la persona',
  'Remove {name}?': '¿Quitar a {name}?',
  Role: 'Rol',
  'Role of {name}': 'Rol de {name}',
  'Save the name': 'Guardar el nombre',
  'Second factor': 'Segundo factor',
  'Send the link': 'Enviar el enlace',
  'Set it up': 'Configurarlo',
  'Signed in': 'Sesión iniciada',
  'Signing in requires a code from your authenticator app.':
    'Para iniciar sesión hace falta un código de su aplicación de autenticación.',
  'The link is shown only once, and works once within a week':
    'El enlace se muestra solo esta vez y funciona una vez, en el plazo de una semana',
  'The password is changed. Your other sessions have ended.':
    'La contraseña ha cambiado. Sus otras sesiones han terminado.',
  'The sessions of this person in this organization end immediately.':
    'Las sesiones de esta persona en esta organización terminan de inmediato.',
  'This invitation does not work': 'Esta invitación no funciona',
  'Turn it off': 'Desactivarlo',
  'Turn it on': 'Activarlo',
  Withdraw: 'Retirar',
  'Withdraw the invitation of {email}': 'Retirar la invitación de {email}',
  'You are invited as': 'Se le ha invitado como',
  'You are signed in with a secret key, which has no account.':
    'Ha iniciado sesión con una clave secreta, que no tiene cuenta.',
  'Your account': 'Su cuenta',
  'Your name': 'Su nombre',
  'Your password': 'Su contraseña',
  'Your password is changed': 'Su contraseña ha cambiado',
  'Your sessions': 'Sus sesiones',
  'Your sessions, in all organizations': 'Sus sesiones, en todas las organizaciones',
  'now, here': 'ahora, aquí',
  '{email}, {role} of this organization': '{email}, {role} de esta organización',
  '{email}, {role}, until {expiresAt}': '{email}, {role}, hasta {expiresAt}',
  'Use a secret key': 'Usar una clave secreta',
  'Use an account': 'Usar una cuenta',
  'rf_sk_…': 'rf_sk_…',
  'People with an email address of this domain cannot sign in here.':
    'Las direcciones de este dominio no inician sesión aquí.',
  'None of your groups has a role here. Ask your administrator.':
    'Ninguno de sus grupos tiene un rol aquí. Consulte con su administración.',
  'Sign in with {name}': 'Iniciar sesión con {name}',
  'The account with this address belongs to a different person at the provider. Ask an admin to remove it first.':
    'La cuenta de esta dirección pertenece a otra persona en el proveedor. Un administrador debe quitarla antes.',
  'The provider does not respond as expected. Try again later.':
    'El proveedor no responde como debería. Inténtelo más tarde.',
  'The provider rejected the sign-in, or it was cancelled there.':
    'El proveedor ha rechazado el inicio de sesión, o este se canceló allí.',
  'The provider returned no verified email address.':
    'El proveedor no indica ninguna dirección de correo que haya verificado.',
  'The sign-in did not work. Try again.': 'No se ha podido iniciar sesión. Inténtelo de nuevo.',
  'This address has no account here. Ask an admin of the organization for an invitation.':
    'Esta dirección no tiene cuenta aquí. Pida una invitación a un administrador de la organización.',
  'This sign-in was not started in this browser, was already used, or took more than ten minutes. Start again.':
    'Este inicio de sesión no empezó en este navegador, ya se usó o tardó más de diez minutos. Empiece de nuevo.',
  'Too many attempts. Try again later.':
    'Demasiados intentos. Espere un poco e inténtelo de nuevo.',
  'The response of the provider is not valid. See the log of the service for details.':
    'Lo que envió el proveedor no es válido. El registro del servicio dice más.',
  'A passkey signs you in without a password: your device stores it, and asks for your fingerprint, face or PIN. It counts as two factors.':
    'Una clave de acceso inicia sesión sin contraseña: su dispositivo la guarda y pide su dedo, su cara o su PIN. Cuenta como dos factores.',
  'Add a passkey': 'Añadir una clave de acceso',
  'It can no longer be used to sign in. The device itself may still show it.':
    'Ya no iniciará sesión. Es posible que el propio dispositivo siga mostrándola.',
  'Name of the passkey': 'Nombre de la clave de acceso',
  'New passkey': 'Clave de acceso nueva',
  Passkeys: 'Claves de acceso',
  'Remove the passkey “{name}”?': '¿Quitar la clave de acceso «{name}»?',
  'Sign in with a passkey': 'Iniciar sesión con una clave de acceso',
  'Such as the device that stores it': 'Por ejemplo, el dispositivo que la guarda',
  'The browser did not use a passkey: the dialog was closed or timed out.':
    'El navegador no ha usado ninguna clave de acceso: el diálogo se cerró o tardó demasiado.',
  'This browser is too old for passkeys.':
    'Este navegador es demasiado antiguo para las claves de acceso.',
  'Nobody is signed in with an account.': 'Nadie ha iniciado sesión con una cuenta.',
};
