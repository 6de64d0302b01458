export const people = {
  ' Sign in to your existing account.': ' Melden Sie sich mit Ihrem Konto an.',
  ', with the role': ', mit der Rolle',
  'Add this secret to your app, then type the code that it shows.':
    'Geben Sie dieses Geheimnis in Ihre App ein und dann den Code, den sie zeigt.',
  Address: 'Adresse',
  'All your sessions have ended.': 'Alle Ihre Sitzungen sind beendet.',
  'An authenticator app generates a code for each sign-in, so that a password alone is not enough.':
    'Eine Authenticator-App erzeugt für jede Anmeldung einen Code, sodass ein Passwort allein nicht genügt.',
  'Request a new password': 'Neues Passwort anfordern',
  'At least 12 characters, such as four random words.':
    'Mindestens 12 Zeichen: Vier zufällige Wörter genügen.',
  'Back to sign-in': 'Zurück zur Anmeldung',
  Browser: 'Browser',
  'Change the password': 'Passwort ändern',
  'Choose a new password': 'Neues Passwort wählen',
  'Code from the app': 'Code der App',
  'Copy the secret': 'Geheimnis kopieren',
  'Current password': 'Jetziges Passwort',
  Email: 'E-Mail',
  'End all sessions of this person': 'Alle dieser Person beenden',
  'Forgot your password? The operator creates a new link with':
    'Passwort vergessen? Der Betreiber erstellt einen neuen Link mit',
  'Go to the console': 'Zur Konsole',
  'I forgot my password': 'Ich habe mein Passwort vergessen',
  'If this address has an account, a mail with a link is on its way. The link works for an hour.':
    'Wenn diese Adresse ein Konto hat, ist eine E-Mail mit einem Link unterwegs. Der Link gilt eine Stunde.',
  Invitations: 'Einladungen',
  Invite: 'Einladen',
  Join: 'Beitreten',
  'Join {organization}': '{organization} beitreten',
  Members: 'Mitglieder',
  'New password': 'Neues Passwort',
  'Nobody has an account yet. Invite yourself as an owner, and open the link.':
    'Noch hat niemand ein Konto. Laden Sie sich selbst als Eigentümer ein und öffnen Sie den Link.',
  'From your authenticator app, or a recovery code.':
    'Aus Ihrer Authenticator-App, oder ein Wiederherstellungscode.',
  Password: 'Passwort',
  'Recovery codes: shown only once, and each works once':
    'Wiederherstellungscodes: nur jetzt zu sehen, jeder gilt einmal',
  'Remove the person': 'Person entfernen',
  'Remove {name}?': '{name} entfernen?',
  Role: 'Rolle',
  'Role of {name}': 'Rolle von {name}',
  'Save the name': 'Namen speichern',
  'Second factor': 'Zweiter Faktor',
  'Send the link': 'Link senden',
  'Set it up': 'Einrichten',
  'Signed in': 'Angemeldet',
  'Signing in requires a code from your authenticator app.':
    'Die Anmeldung verlangt einen Code Ihrer Authenticator-App.',
  'The link is shown only once, and works once within a week':
    'Der Link ist nur jetzt zu sehen und gilt einmal, innerhalb einer Woche',
  'The password is changed. Your other sessions have ended.':
    'Das Passwort ist geändert. Ihre anderen Sitzungen sind beendet.',
  'The sessions of this person in this organization end immediately.':
    'Die Sitzungen dieser Person in dieser Organisation enden sofort.',
  'This invitation does not work': 'Diese Einladung gilt nicht',
  'Turn it off': 'Abschalten',
  'Turn it on': 'Einschalten',
  Withdraw: 'Zurückziehen',
  'Withdraw the invitation of {email}': 'Einladung von {email} zurückziehen',
  'You are invited as': 'Sie sind eingeladen als',
  'You are signed in with a secret key, which has no account.':
    'Sie sind mit einem geheimen Schlüssel angemeldet, der kein Konto hat.',
  'Your account': 'Ihr Konto',
  'Your name': 'Ihr Name',
  'Your password': 'Ihr Passwort',
  'Your password is changed': 'Ihr Passwort ist geändert',
  'Your sessions': 'Ihre Sitzungen',
  'Your sessions, in all organizations': 'Ihre Sitzungen, in allen Organisationen',
  'now, here': 'jetzt, hier',
  '{email}, {role} of this organization': '{email}, {role} dieser Organisation',
  '{email}, {role}, until {expiresAt}': '{email}, {role}, bis {expiresAt}',
  'Use a secret key': 'Geheimen Schlüssel benutzen',
  'Use an account': 'Konto benutzen',
  'rf_sk_…': 'rf_sk_…',
  'People with an email address of this domain cannot sign in here.':
    'Mit Adressen dieser Domain kann man sich hier nicht anmelden.',
  'None of your groups has a role here. Ask your administrator.':
    'Keine Ihrer Gruppen hat hier eine Rolle. Wenden Sie sich an Ihre Administratorin oder Ihren Administrator.',
  'Sign in with {name}': 'Mit {name} anmelden',
  'The account with this address belongs to a different person at the provider. Ask an admin to remove it first.':
    'Das Konto dieser Adresse gehört beim Anbieter jemand anderem. Ein Admin muss es zuerst entfernen.',
  'The provider does not respond as expected. Try again later.':
    'Der Anbieter antwortet nicht wie erwartet. Versuchen Sie es später noch einmal.',
  'The provider rejected the sign-in, or it was cancelled there.':
    'Der Anbieter hat die Anmeldung abgelehnt, oder sie wurde dort abgebrochen.',
  'The provider returned no verified email address.':
    'Der Anbieter nennt keine E-Mail-Adresse, die er geprüft hat.',
  'The sign-in did not work. Try again.':
    'Die Anmeldung hat nicht geklappt. Versuchen Sie es noch einmal.',
  'This address has no account here. Ask an admin of the organization for an invitation.':
    'Diese Adresse hat hier kein Konto. Bitten Sie einen Admin der Organisation um eine Einladung.',
  'This sign-in was not started in this browser, was already used, or took more than ten minutes. Start again.':
    'Diese Anmeldung wurde nicht in diesem Browser begonnen, schon verwendet oder hat über zehn Minuten gedauert. Beginnen Sie von vorn.',
  'Too many attempts. Try again later.':
    'Zu viele Versuche. Warten Sie eine Weile, und versuchen Sie es dann noch einmal.',
  'The response of the provider is not valid. See the log of the service for details.':
    'Was der Anbieter gesendet hat, ist nicht gültig. Das Protokoll des Dienstes sagt mehr.',
  'A passkey signs you in without a password: your device stores it, and asks for your fingerprint, face or PIN. It counts as two factors.':
    'Ein Passkey meldet ohne Passwort an: Ihr Gerät bewahrt ihn auf und fragt nach Finger, Gesicht oder PIN. Er zählt als zwei Faktoren.',
  'Add a passkey': 'Passkey hinzufügen',
  'It can no longer be used to sign in. The device itself may still show it.':
    'Er meldet dann nicht mehr an. Das Gerät selbst zeigt ihn vielleicht weiterhin.',
  'Name of the passkey': 'Name des Passkeys',
  'New passkey': 'Neuer Passkey',
  Passkeys: 'Passkeys',
  'Remove the passkey “{name}”?': 'Den Passkey „{name}“ entfernen?',
  'Sign in with a passkey': 'Mit einem Passkey anmelden',
  'Such as the device that stores it': 'Zum Beispiel das Gerät, das ihn aufbewahrt',
  'The browser did not use a passkey: the dialog was closed or timed out.':
    'Der Browser hat keinen Passkey verwendet: Der Dialog wurde geschlossen oder dauerte zu lange.',
  'This browser is too old for passkeys.': 'Dieser Browser ist zu alt für Passkeys.',
  'Nobody is signed in with an account.': 'Niemand ist mit einem Konto angemeldet.',
};
