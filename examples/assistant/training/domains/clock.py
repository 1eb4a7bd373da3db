"""Alarms, reminders at a time of day, the time and the date."""
from grammar import TENS, UNITS, Intent, Lexicon, adjective_duration, arguments, duration, joined, spoken_duration

TASKS = Lexicon("""call mom, call dad, call the doctor, call the bank, call the plumber, call my sister, call my brother, call the landlord, call the vet, call the school, call the office, call back, call grandma, call the insurance,
    take the pills, take my pills, take my medicine, take my medication, take my vitamins, take the antibiotics, take my insulin, take out the trash, take the trash out, take out the garbage, take out the recycling, take the bins out,
    take the dog for a walk, take a break, take a shower, take a nap, take the cake out, take the chicken out of the freezer, take the meat out of the fridge, take the laundry out, take a picture, take the kids to school, take the car to the garage,
    put the bins out, put the trash out, put the kids to bed, put the chicken in the oven, put the clothes in the dryer, put gas in the car, put the roast in, put on sunscreen, put up the shelf, put the car in the garage,
    water the plants, water the garden, water the flowers, water the tomatoes, water the lawn, feed the cat, feed the dog, feed the fish, feed the baby, feed the chickens, feed the birds, walk the dog, let the dog out, let the cat in, brush the dog, bathe the dog,
    wash the car, wash the dishes, wash my hair, wash the windows, wash the sheets, do the dishes, do the laundry, do my homework, do the taxes, do my exercises, do the shopping, do yoga, do the ironing, do my stretches, do the vacuuming,
    pick up the kids, pick up the dry cleaning, pick up a package, pick up milk, pick up the prescription, pick up the car, pick up the groceries, pick the kids up from school, pick up flowers, pick up dinner, pick up the dog from the groomer,
    pay the rent, pay the bills, pay the electricity bill, pay the phone bill, pay the babysitter, pay the credit card, pay the gas bill, pay my taxes, pay the parking ticket, buy milk, buy bread, buy eggs, buy flowers, buy a gift, buy stamps, buy cat food,
    buy a birthday card, buy tickets, buy groceries, buy diapers, buy a new charger, get gas, get milk, get groceries, get cash, get a haircut, get the mail, get ready, get the car washed, get dressed, get off the couch, get some sleep, get the kids,
    send the email, send the report, send the invoice, send the package, send a birthday card, send flowers, email my boss, email the teacher, email the report, text my wife, text my husband, text my boss, answer the email, reply to the email,
    check the oven, check the mail, check my email, check the tires, check the mousetraps, check my blood pressure, check my blood sugar, check on the baby, check the weather, check in for my flight, check the door, check the stove,
    turn off the oven, turn off the heater, turn off the sprinkler, turn on the dishwasher, turn off the lights, turn off the iron, turn the roast, lock the door, lock the doors, lock the back door, lock the gate, lock up, close the windows, close the garage,
    shut the window, open the windows, open the shop, start dinner, start cooking, start the washing machine, start the dishwasher, start the slow cooker, start the rice, start the car, make dinner, make lunch, make the bed, make coffee, make breakfast,
    make a dentist appointment, make an appointment, make a reservation, make the salad, make a list, cook dinner, cook rice, defrost the chicken, thaw the meat, preheat the oven, bake the cake, bake a pie, marinate the steak, peel the potatoes, stir the soup,
    clean the kitchen, clean the bathroom, clean my room, clean the fridge, clean the litter box, clean the oven, clean the gutters, change the sheets, change the filter, change the diaper, change the litter, change the bandage, charge my phone, charge the car,
    charge the battery, charge my watch, plug in the phone, plug in the car, drink water, drink more water, drink a glass of water, eat something, eat lunch, eat dinner, go to bed, go to the gym, go to sleep, go shopping, go to the store, go home, go for a run,
    go to the post office, go to the bank, go to church, go to work, go to the dentist, leave for work, leave for the airport, leave the house, leave, stretch, breathe, meditate, exercise, work out, study, practice piano, practice the guitar, practice my speech,
    read a book, read to the kids, return the books, return the library books, return the shoes, renew my passport, renew the insurance, renew the license, book a table, book the flight, book a hotel, order pizza, order food, order the cake, order more coffee,
    cancel the subscription, cancel the gym membership, cancel the hotel, print the tickets, print the form, sign the papers, sign the permission slip, fill out the form, fill up the car, fill the birdbath, finish the report, finish my essay, finish the presentation,
    join the call, join the meeting, mow the lawn, rake the leaves, shovel the snow, cut the grass, trim the hedge, plant the tulips, fix the sink, fix the bike, fix the fence, fold the laundry, hang up the laundry, hang the picture, iron my shirt, iron the shirts,
    pack my bag, pack lunch, pack the suitcase, pack the car, move the car, move the laundry, move the sprinkler, park on the other side, bring the umbrella, bring my laptop, bring the cake, bring in the mail, wake the kids, wake up the kids, wake my husband,
    watch the game, watch the news, watch the show, watch the match, record the game, tape the show, visit grandma, visit my parents, meet the client, see the doctor, talk to my boss, tell the kids to go to bed, say happy birthday, wish mom a happy birthday,
    write the report, write a thank you note, write my diary, write to grandpa, sweep the porch, vacuum the living room, mop the floor, empty the dishwasher, empty the trash, unload the dishwasher, load the dishwasher, dust the shelves, look for my keys,
    brush my teeth, floss, shave, put in my contacts, use the eye drops, rub in the cream, apply the cream, refill my prescription, weigh myself, measure my blood pressure, bring the kids to soccer, drop off the package, drop the kids off, drop off the car,
    call the electrician, call the pharmacy, call the airline, call the hotel, call the hairdresser, call the tax office, call the accountant, call my daughter, call my son, call my best friend, call the daycare,
    call the nursing home, call the restaurant, call in sick, call grandpa, call the car dealer, call the electric company, take my iron tablets, take my blood pressure pills, take my allergy pill, take an aspirin,
    take the puppy out, take the bread out, take the pizza out, take the clothes off the line, take the turkey out, take the kids to practice, take the kids to the dentist, take the cat to the vet, take the dog to the groomer,
    take the bus to town, take the bottles back, take the rubbish out, take a walk, take a deep breath, take a breather, take the trash cans to the curb, take my temperature, take my contacts out, take off the face pack,
    put the kettle on, put the potatoes on, put the turkey in, put the pie in the oven, put the laundry in the dryer, put the washing out, put the washing on, put the recycling out, put the wine in the fridge,
    put the dog in the crate, put the chickens in, put the baby down, put air in the tires, put my phone away, put money in the meter, put the cream on, put the cover on the pool, water the roses, water the herbs,
    water the vegetables, water the hanging baskets, feed the rabbit, feed the hamster, feed the ducks, feed the turtle, feed the sourdough, feed the neighbor's cat, walk the puppy, walk the neighbor's dog,
    let the chickens out, let the cat out, let the dogs in, let the dough rest, wash the towels, wash the baby bottles, wash the gym clothes, wash the salad, wash my face, do my push ups, do my physio exercises,
    do my breathing exercises, do the school run, do the grocery shopping, do the budget, do my nails, do my expenses, do the crossword, do a backup, do my spanish lesson, pick up the pizza, pick up the cake, pick up the suit,
    pick up the tickets, pick up my glasses, pick up my medication, pick up the parcel, pick up the wine, pick up the twins, pick up the kids from practice, pick up the dog, pick up the rental car, pay the water bill,
    pay the internet bill, pay the insurance, pay the cleaner, pay the gardener, pay the tuition, pay the car loan, pay the nanny, pay the fine, buy coffee, buy toothpaste, buy a train ticket, buy wrapping paper, buy dog food,
    buy wine for the party, buy dessert, buy a card for mom, buy light bulbs, buy sunscreen, buy school supplies, buy charcoal, buy ice, get the turkey, get bread, get a flu shot, get the tires checked, get the bus,
    get the cake from the bakery, get my nails done, get my eyes tested, get the oil changed, get the parcel, get the laundry in, get the kids dressed, get out of the bath, get up from the desk, get to the station,
    get off the phone, send the contract, send the slides, send the thank you notes, send the newsletter, send the pictures to grandma, send the rent, send the application, email the landlord, email the professor,
    email the accountant, email the invoice to the client, text the babysitter, text my sister, text dad, answer the landlord, answer the survey, reply to the invitation, reply to my boss, reply to the school, check the roast,
    check the pool, check the fish tank, check the mailbox, check the bread, check the score, check the parking meter, check the sprinklers, check the boiler, check the basement, check my bank account, check my messages,
    check my tire pressure, check my homework, check in with mom, check in online, check on the turkey, check on the dog, check on grandpa, check on the laundry, check the smoke alarm, check the passport, check the mousetrap,
    check the train times, check the freezer, check the baby, turn the compost, turn the steaks, turn over the chicken, turn off the stove, turn off the slow cooker, turn off the hose, turn off the grill, turn off the pump,
    turn on the slow cooker, turn on the rice cooker, lock the shed, lock the garage, lock the windows, lock the front door, close the curtain, close the shop, close the pool, close the gate, close the blinds, open the gate,
    open the store, open the wine, start the grill, start the barbecue, start the bread machine, start the laundry, start the report, start getting ready, start packing, start revising, make the pizza dough,
    make the kids lunches, make tea, make pancakes, make a salad, make soup, make a cake, make a doctor's appointment, make the payment, make a backup, make the call, cook the pasta, cook the chicken, cook for the party,
    defrost the mince, defrost the soup, thaw the turkey, thaw the bread, preheat the grill, bake the bread, bake the cookies, bake the potatoes, marinate the chicken, peel the carrots, stir the stew, stir the chili,
    flip the pancakes, flip the steaks, baste the turkey, drain the pasta, chop the vegetables, season the meat, chill the wine, whip the cream, mix the dough, proof the bread, clean the car, clean the windows, clean the pool,
    clean the coffee machine, clean the fish tank, clean the stove, clean the hamster cage, clean my glasses, clean out the fridge, clean out the car, change the bed, change the oil, change the water in the vase,
    change the batteries, change my password, change the beds, change the toothbrush, change my contacts, change the fish water, charge my laptop, charge the camera, charge the scooter, charge my headphones,
    charge the toothbrush, charge the drill, plug in my laptop, plug in the slow cooker, drink some tea, drink a smoothie, drink my protein shake, eat breakfast, eat an apple, eat a snack, eat some fruit, go to school,
    go to the pharmacy, go to the library, go to the market, go to the vet, go to yoga, go to practice, go to the party, go to the pool, go to my lesson, go to the game, go for a swim, go for a walk, go for a bike ride,
    go out for lunch, go running, go swimming, go fishing, go vote, go outside, leave for school, leave for the station, leave for the party, leave for the game, leave for the dentist, leave the office,
    leave a tip for the cleaner, leave the key under the mat, sit up straight, stand up, stand up from my desk, rest my eyes, relax, pray, journal, practice the drums, practice the flute, practice my lines, practice spanish,
    practice singing, practice yoga, read the report, read a chapter, read the contract, read the kids a story, return the sweater, return the call, return the rental car, return the parcel, return the ladder, renew the lease,
    renew the membership, renew the parking permit, renew my subscription, renew my license, book the restaurant, book the train, book a haircut, book the vet, book the campsite, book a taxi, book the court,
    book swimming lessons, order groceries, order the gift, order new filters, order contact lenses, order my prescription, order the turkey, order sushi, cancel the free trial, cancel the reservation, cancel the newspaper,
    cancel the appointment, cancel my flight, print the boarding pass, print the photos, print my homework, sign the contract, sign the report card, sign up for the race, sign up for swimming, fill out the survey,
    fill the bird feeder, fill the water bottles, fill the dog bowl, fill the pool, fill in the forms, finish the laundry, finish my homework, finish the slides, finish the painting, finish my lunch, finish reading,
    join the webinar, join the zoom call, join the stand up, mow the grass, rake the yard, shovel the driveway, trim the roses, plant the garlic, plant the beans, pull the weeds, prune the apple tree, spray the roses,
    cover the plants, cover the grill, cover the pool, bring in the plants, bring in the washing, bring the bins in, bring the kids home, bring the cake to work, bring the drinks, bring cash, bring my gym bag,
    bring the permission slip, bring snacks, fix the tap, fix the printer, fix the roof, fix the door, fold the towels, fold the clothes, hang out the washing, iron the school uniforms, iron my dress, pack the kids lunches,
    pack the gym bag, pack the diaper bag, pack my laptop, pack the cooler, move the bins, move the chairs inside, move the couch, move the goats, wake the baby, wake dad, wake my wife, wake grandma up, wake up the baby,
    watch the race, watch the webinar, watch the documentary, watch the fireworks, watch the final, watch the kids, record the show, record the match, visit the doctor, visit grandpa, visit the neighbors,
    visit dad in hospital, meet sarah, meet the landlord, meet the teacher, meet mom at the station, see the dentist, see the lawyer, see grandma, talk to the landlord, talk to the teacher, talk to my son,
    talk to dad about the car, tell mom about the party, tell my wife about the trip, wish dad a happy birthday, congratulate sarah, thank the neighbors, thank aunt mary for the gift, apologize to tom, write the speech,
    write a letter, write the minutes, write the essay, write the card, write in my journal, sweep the floor, sweep the kitchen, vacuum the car, vacuum upstairs, vacuum the stairs, mop the kitchen, wipe the counters,
    scrub the tub, empty the bins, empty the litter box, empty the compost, unload the car, unload the washing machine, load the washing machine, dust the living room, look up the recipe, look for flights,
    look over the contract, look at the roast, tidy the kitchen, tidy my room, tidy the garage, sort the recycling, sort the mail, sort the laundry, brush the cat, brush the kids teeth, wash the makeup off, rinse my mouth,
    rinse out the hair color, wash the hair dye out, take out my retainer, put in my retainer, wear my glasses, use the inhaler, use the nasal spray, use mouthwash, apply sunscreen, apply the ointment, change the plaster,
    inject the insulin, test my sugar, log my meals, log my hours, track my steps, update my resume, update the software, update the spreadsheet, upload the video, upload the homework, download the movie,
    submit the assignment, submit the report, submit the expenses, hand in the essay, turn in my homework, study for the exam, study french, revise for the test, review the budget, prepare the presentation, prepare dinner,
    prepare the bottles, prepare the agenda, plan the party, plan the week, plan the meals, transfer the money, transfer the rent, withdraw cash, file the taxes, file the report, post the letters, post the parcel,
    mail the check, mail the package, ship the order, wrap the presents, wrap the gift, set the table, set up the tent, set up the projector, set the traps, set out the chairs, decorate the cake, decorate the tree,
    blow up the balloons, hide the eggs, hide the presents, cut the cake, slice the bread, burp the baby, change the baby, bathe the kids, bathe the baby, swap the tires, rotate the tires, air out the bedroom""",
                """rotate the mattress, defrost the freezer, call the roofer, take the cast off, milk the goats, brew the beer, submit the timesheet, sharpen the knives, descale the kettle, ring the nurse, groom the horse, tune the violin, bleed the radiators,
    back up the computer, approve the invoice, pump up the tires, oil the hinges, polish my shoes, repot the orchid, score the bread, knead the dough, soak the chickpeas, unplug the heater, deposit the check, visit the museum, return the drill, salt the driveway,
    rehearse the play, weed the flower bed, collect the mail, swap the laundry, frost the cupcakes, drain the pool, flip the mattress, scan the receipts""")

PEOPLE = Lexicon("""mom, dad, mum, grandma, grandpa, my wife, my husband, my sister, my brother, my boss, my mother, my father, my son, my daughter, my aunt, my uncle, my cousin, my friend, the boss, the kids, the neighbors, the teacher, the doctor, the lawyer,
    the accountant, the babysitter, the landlord, anna, ben, carlos, daniel, emma, frank, george, hannah, ivan, jack, julia, kevin, laura, maria, nick, olivia, paul, peter, rachel, sam, sarah, tom, victor, wendy, john, mary, david, lisa, mike, steve, susan,
    karen, linda, robert, james, kate, emily, alex, chris, jessica, ashley, amy, andrew, aunt mary, uncle bob, bob, joe, jane, max, leo, mia, noah, lucas, sophie, ella, grace, lily, priya, ahmed, yuki, wei, fatima, omar, diego, lucia, pierre, hans, olga,
    mrs brown, mr smith, mr jones, mrs miller, doctor lee, dr patel, the garcias, my mother in law, my roommate, my girlfriend, my boyfriend, my partner, my nephew, my niece, my teacher, my coach, my client, the client, the team, the plumber, the electrician,
    abby, adam, adele, aisha, alan, albert, alejandra, alfred, ali, alice, amelia, amir, ana, andre, angela, anita, antonio, arthur, ashok, ava, aya, barbara, becky, bella, bernard, beth, betty, boris, brandon, brian, bridget,
    callum, camille, carl, carol, cathy, charlie, chen, chloe, clara, claudia, cody, colin, connie, craig, cynthia, dana, danny, darren, dave, dean, deepa, denise, dennis, derek, diana, dominik, donald, doris, dylan, eddie,
    edith, edward, eileen, elena, eli, elsa, eric, ernest, esra, ethan, eva, evan, fabio, farid, fay, fernanda, fiona, florence, francis, fred, gabriela, gary, gemma, gina, giovanni, glen, gordon, greta, guido, hana, harold,
    harry, hector, heidi, helen, henry, hiroshi, holly, howard, ian, imran, irene, iris, isabel, isla, jacob, jade, jake, jamie, janet, jasper, javier, jeff, jenny, jill, jim, jimmy, joanne, joel, johan, jonas, jose, josh,
    juan, judy, justin, karim, kathy, keith, kelly, ken, kim, kurt, kyle, lars, lee, lena, leon, liam, lorenzo, louise, luca, luis, luke, lydia, magnus, malik, manuel, marcus, margaret, marie, marta, martin, matt, megan,
    mehmet, mei, melanie, miguel, mila, mohammed, molly, monica, nadia, nancy, nathan, neha, neil, nikita, nina, nora, olaf, oliver, otto, pablo, patrick, pauline, pedro, peggy, phil, philippa, rahul, raj, ralph, ravi, ray,
    rebecca, ricardo, rita, roberto, robin, roger, ron, rosa, ruth, ryan, salma, sandra, sanjay, scott, sean, sergei, shannon, sheila, simon, sonia, stefan, stella, stuart, suki, tanya, ted, teresa, terry, tim, tina, todd,
    tony, tracy, ursula, valerie, vera, vincent, vivian, wanda, wayne, xin, yara, yolanda, yusuf, zack, zainab, zoe, my grandma, my grandpa, my stepmom, my father in law, my sister in law, my brother in law, my neighbor,
    my manager, my doctor, my dentist, my lawyer, my accountant, my therapist, my trainer, my landlady, my best friend, my fiance, my fiancee, my coworker, my agent, my realtor, my granddaughter, my godson, my twin sister,
    my little brother, my big sister, my piano teacher, my old professor, the nurse, the vet, the coach, the principal, the pediatrician, the hairdresser, the gardener, the babysitters, the grandparents, the in laws,
    the twins, the girls, the boys, the cleaner, the nanny, the pharmacist, the photographer, the caretaker, the bank, the school, the landlady, the johnsons, the millers, uncle joe, uncle frank, aunt linda, aunt rosa,
    grandma rose, grandpa joe, cousin eddie, mr lee, mr garcia, mrs green, mrs lopez, ms taylor, dr wilson, dr chen, doctor brown, professor lang, coach mike, charlotte""",
                  """felix, beatrice, oscar, ingrid, mateo, naomi, theo, mr rossi, mrs kowalski, my stepdad, my godmother, the janitor, the mechanic, aunt sylvia, my tutor, dmitri""")

THINGS = Lexicon("""milk, bread, eggs, flowers, a birthday card, cat food, dog food, coffee, diapers, stamps, batteries, a present, cheese, butter, toilet paper, the cake, the tickets, a bottle of wine, some fruit, ice, charcoal, paint, light bulbs, printer ink, new shoes,
    chocolates, a pizza, sushi, the medicine, the prescription, a newspaper, tomatoes, onions, rice, beer, water, a new phone case, the groceries, candles, balloons, wrapping paper, soap, shampoo, toothpaste, laundry detergent, a train ticket, potting soil,
    apples, bananas, oranges, lemons, strawberries, grapes, carrots, potatoes, salad, spinach, lettuce, garlic, ginger, chicken, ground beef, salmon, some fish, bacon, ham, sausages, yogurt, cream, sour cream, ice cream,
    frozen peas, cereal, pasta, flour, sugar, salt, olive oil, vinegar, mustard, mayonnaise, peanut butter, jam, crackers, chips, cookies, chocolate, candy, popcorn, nuts, raisins, orange juice, apple juice, lemonade, soda,
    cola, sparkling water, wine, red wine, champagne, a case of beer, tea, decaf, oat milk, almond milk, baby formula, baby wipes, baby food, cat litter, fish food, bird seed, dog treats, a dog leash, paper towels, tissues,
    trash bags, dish soap, hand soap, conditioner, deodorant, razors, shaving cream, sunscreen, contact lenses, aspirin, cough syrup, vitamins, band aids, a thermometer, an umbrella, a raincoat, socks, a tie, a belt,
    a winter hat, a dress, running shoes, a swimsuit, a backpack, a suitcase, a phone charger, an adapter, a memory card, headphones, printer paper, envelopes, pens, a calendar, a wedding gift, a baby gift, a gift card,
    a thank you card, an anniversary card, a bouquet, roses, tulips, a house plant, tomato seeds, fertilizer, grass seed, a garden hose, a rake, a shovel, screws, nails, a drill bit, duct tape, glue, a paint brush,
    an extension cord, a smoke detector, an air filter, a furnace filter, a shower curtain, a bath mat, towels, a pillow, bed sheets, a picture frame, a toy, a board game, a puzzle, a puppy bed, a newspaper subscription,
    concert tickets, movie tickets, plane tickets, a bus pass, a parking permit, a birthday cake, a cheesecake, a roast chicken, a baguette, donuts, a pie, a sandwich, some sandwiches, thai food, indian food, chinese food,
    tacos, burgers, a burrito, the dry cleaning, the mail, the package, the parcel, the keys, the car keys, the spare key, the contract, the invoice, the receipt, the passport, the costumes, the decorations, the drinks,
    the snacks, the invitations, the photos, the glasses, the library books, the rental car, the suit, the dress, the turkey, the wine, the pizza, firewood, propane, gas, rock salt, snow chains, windshield washer fluid,
    motor oil, a new tire, a car battery, a new mattress, a bookshelf, a lamp, a rug, paper plates, plastic cups, party hats, sparklers, a pumpkin, a christmas tree, easter eggs, baking soda""",
                  """birdseed, a corkscrew, sandpaper, cough drops, a lottery ticket, a garden gnome""")

EVENTS = Lexicon("""work, school, gym, meeting, dentist appointment, doctor's appointment, yoga class, workout, breakfast, lunch, dinner, medicine, pills, medication, vitamins, flight, train, bus, bedtime, homework, church, class, piano lesson, soccer practice, football practice,
    team meeting, conference call, phone call, job interview, haircut, party, birthday party, concert, movie, game, tv show, parking meter, dance class, swimming lesson, school bus, school run, morning run, run, nap, study, break, coffee break, lunch break, date night,
    parents evening, book club, choir practice, band practice, rehearsal, prayer, baby, feeding, dog walk, garbage truck, delivery, vet appointment, car service, bill, rent, wedding, barbecue, game night, family dinner, shift, night shift,
    weekend, power nap, math test, driving lesson, guitar lesson, webinar, staff meeting, stand up, daily stand up, zoom call, video call, physiotherapy, blood test, checkup, fishing, hike, skiing, golf, tennis,
    spin class, pilates, pilates class, zumba, ballet class, boxing class, aqua aerobics, spinning, crossfit, swim practice, basketball practice, baseball practice, hockey practice, tennis lesson, golf lesson, riding lesson,
    singing lesson, violin lesson, drum lesson, art class, cooking class, french class, spanish class, english class, math class, science class, lecture, seminar, tutorial, tutoring, exam, final exam, midterm, spelling test,
    quiz, detention, parent teacher meeting, school play, school concert, field trip, preschool drop off, daycare pickup, kids pickup, bus stop, carpool, commute, early train, night train, taxi, cab, shuttle, boarding,
    road trip, hotel checkout, checkout, cruise, camping trip, shift change, early shift, late shift, overtime, client call, client meeting, sales call, sales meeting, project meeting, budget meeting, planning meeting,
    sprint review, retro, code review, performance review, training, workshop, conference, presentation, interview, phone interview, press conference, product launch, status call, family call, skype call, call with mom,
    doctor visit, eye doctor, optometrist, dermatologist, physio, chiropractor, massage, facial, manicure, pedicure, hair appointment, barber, nail appointment, mammogram, ultrasound, scan, x ray, surgery, dialysis, chemo,
    flu shot, vaccine, injection, insulin, inhaler, eye drops, blood pressure pills, antibiotics, iron tablets, birth control, allergy pills, protein shake, water break, tea, tea time, snack, family breakfast, supper,
    dinner party, dinner reservation, lunch meeting, lunch with mom, potluck, picnic lunch, cookout, drinks, happy hour, pub quiz, quiz night, movie night, bingo, bridge, chess, bowling, darts, football, football match,
    soccer game, baseball game, basketball game, hockey game, rugby, cricket, boxing match, race, bike race, fun run, parkrun, bike ride, swim, jog, walk, morning walk, dog training, puppy class, puppy feeding, cat feeding,
    bottle, diaper change, nap time, bath time, story time, quiet time, screen time, playdate, babysitting, christening, baptism, bar mitzvah, funeral, memorial service, graduation, graduation party, anniversary,
    anniversary dinner, engagement party, housewarming, retirement party, reunion, class reunion, office party, costume party, egg hunt, parade, fireworks, festival, theater, opera, musical, gig, exhibition, gallery opening,
    book launch, auction, garage sale, yard sale, farmers market, food delivery, grocery delivery, package pickup, furniture delivery, plumber, electrician, cleaner, gas man, window cleaner, internet technician,
    home inspection, house viewing, apartment viewing, open house, lease signing, court, court date, jury duty, bank appointment, tax appointment, voting, election, choir, band, orchestra, mass, bible study, vigil, meditation,
    stretching, breathing exercise, journal time, study group, study session, revision, piano practice, guitar practice, curfew, early start, market, recycling, bin day, trash day, street sweeping, watering, plants,
    sprinklers, car wash, oil change, tire change, car inspection, vet, grooming, dog groomer, chores, laundry, cleaning, bread, dough, barbecue party, volunteering, blood donation, scouts, gymnastics, cheerleading, swim meet,
    track meet, tournament, playoffs, super bowl party, poker night""",
                 """tango class, parole meeting, board meeting, pottery class, chess club, town hall, ferry, deadline, sunrise, karate, therapy session""")

POTS = Lexicon("""oven, roast, steaks, steak, rice, cake, soup, potatoes, bread, chicken, turkey, sauce, pasta, eggs, pie, fish, pancakes, burgers, ribs, meat, stew, curry, pizza, cookies, sausages, bacon, lasagna, lasagne, grill, vegetables, laundry, washing,
    dryer, dough, chili, gravy, brownies, muffins, beans, onions, barbecue, stove, pot, kettle, casserole, joint, ham, roast potatoes,
    roast beef, roast chicken, pot roast, duck, goose, lamb, leg of lamb, lamb chops, pork chops, pork belly, pulled pork, brisket, mince, bolognese, tomato sauce, cream sauce, caramel, custard, jam, marmalade, syrup, fudge,
    broth, stock, bone broth, chowder, gumbo, lentils, chickpeas, peas, corn, carrots, broccoli, asparagus, cabbage, spinach, peppers, tomatoes, sweet potatoes, mashed potatoes, fries, chips, hash browns, wedges, nachos,
    noodles, spaghetti, macaroni, ravioli, couscous, quinoa, dal, chili beans, salmon, tuna, shrimp, prawns, mussels, fish fingers, fish sticks, nuggets, chicken wings, wings, drumsticks, hot dogs, hamburgers, bratwurst,
    meatloaf, shepherd's pie, cottage pie, apple pie, pumpkin pie, crumble, tart, cheesecake, cupcakes, scones, biscuits, rolls, buns, banana bread, garlic bread, sourdough, pizza dough, waffles, french toast, omelette,
    scrambled eggs, boiled eggs, bake, gratin, tray bake, smoker, fryer, air fryer, slow cooker, pressure cooker, wok, skillet, frying pan, saucepan, roasting tin, griddle, fondue, paella, tagine, jambalaya, enchiladas,
    burritos, fajitas, tacos, spring rolls, stir fry, turkey legs, gammon, ham hock, stuffing, yorkshire puddings, pudding, rice pudding, christmas pudding, granola, nuts, popcorn""",
    """quesadillas, fritters, tortilla, flatbreads, kebabs""")

OBJECTS = Lexicon("""parcel, package, keys, passport, tickets, umbrella, laundry, washing, bins, recycling, cake, oven, prescription, milk, rent, bills, dishes, school bag, gym bag, lunch box, swimming stuff, football kit, library books, birthday card, present, flowers,
    groceries, dry cleaning, plants, cat, dog, car seat, laptop, charger, homework, permission slip, medicine, pills, bread, turkey, roast, sprinkler, pool, heater, iron, gas bill, car keys, suitcase, dentist, plumber, game, match, show, kids, babysitter,
    wallet, purse, phone, watch, coat, jacket, hat, scarf, boots, running shoes, swimsuit, towel, water bottle, lunch, sandwiches, snacks, cooler, picnic blanket, sunscreen, first aid kit, inhaler, insulin, vitamins,
    eye drops, contact lenses, house keys, spare key, office keys, badge, id card, driver's license, boarding pass, train ticket, bus pass, concert tickets, receipt, receipts, invoice, contract, report, presentation, slides,
    forms, application, tax return, phone bill, water bill, electricity bill, credit card bill, mortgage, insurance, car insurance, subscription, parking meter, parking permit, library book, textbook, essay, science project,
    art project, calculator, pencil case, guitar, violin, flute, trumpet, tennis racket, football boots, soccer ball, hockey stick, helmet, ballet bag, costume, uniform, party bags, balloons, candles, wine, champagne, beer,
    ice, charcoal, meat, chicken, salad, dessert, cookies, pie, pizza, soup, stew, slow cooker, rice cooker, kettle, stove, grill, barbecue, dishwasher, washing machine, dryer, clothes line, vacuum, garden, tomatoes, roses,
    hose, lawn, hedge, compost, garbage, trash, garage door, back door, front gate, windows, hot tub, aquarium, fish, rabbit, hamster, chickens, puppy, baby bottle, diaper bag, stroller, baby monitor, teddy bear, camera,
    tripod, power bank, headphones, tablet, printer, backup, software update, voicemail, email, letter, letters, mail, postcard, thank you card, gift, gifts, wedding gift, anniversary, cleaner, electrician, gardener, vet,
    doctor, hairdresser, meeting, conference call, interview, exam, test, quiz, rehearsal, recital, wedding, funeral, party, delivery, pickup, rental car, taxi, train, flight, bus, hotel booking, reservation, car wash,
    oil change, tires, film, tv show, final, race, concert, news, webinar, zoom link, laundry detergent, cat food, dog food, cat litter""",
                  """pushchair, casserole dish, trombone, ballet shoes, garden hose pipe""")

PLACES = Lexicon("""tokyo, london, paris, new york, berlin, los angeles, chicago, sydney, moscow, beijing, rome, madrid, dubai, singapore, toronto, hong kong, seattle, boston, san francisco, miami, denver, dallas, houston, phoenix, las vegas, honolulu, anchorage, vancouver,
    montreal, mexico city, havana, bogota, lima, santiago, buenos aires, sao paulo, rio de janeiro, lisbon, barcelona, seville, dublin, edinburgh, glasgow, manchester, liverpool, cardiff, amsterdam, brussels, copenhagen, oslo, stockholm, helsinki, warsaw, krakow, prague,
    vienna, zurich, geneva, munich, hamburg, frankfurt, cologne, milan, venice, naples, athens, istanbul, ankara, cairo, casablanca, nairobi, lagos, accra, johannesburg, cape town, addis ababa, tel aviv, jerusalem, baghdad, tehran, riyadh, doha, karachi, lahore, delhi,
    new delhi, mumbai, bangalore, kolkata, chennai, dhaka, kathmandu, bangkok, hanoi, ho chi minh city, jakarta, bali, manila, kuala lumpur, seoul, busan, taipei, shanghai, shenzhen, osaka, kyoto, melbourne, brisbane, perth, adelaide, auckland, wellington, fiji, hawaii,
    alaska, california, texas, florida, ohio, washington, washington dc, philadelphia, atlanta, detroit, minneapolis, portland, austin, san diego, new orleans, nashville, salt lake city, quebec, ottawa, calgary, winnipeg, nova scotia, germany, france, spain, italy, portugal,
    england, scotland, ireland, wales, norway, sweden, finland, denmark, poland, ukraine, romania, hungary, bulgaria, greece, turkey, egypt, morocco, kenya, nigeria, ghana, south africa, ethiopia, israel, iran, iraq, saudi arabia, qatar, pakistan, india, bangladesh, nepal,
    sri lanka, thailand, vietnam, cambodia, malaysia, indonesia, the philippines, china, japan, south korea, north korea, taiwan, mongolia, australia, new zealand, canada, mexico, cuba, jamaica, brazil, argentina, chile, peru, colombia, ecuador, venezuela, bolivia, iceland,
    the netherlands, belgium, switzerland, austria, russia, serbia, croatia, the uk, the us, the usa, puerto rico, siberia, kansas, utah, iowa, arizona, colorado, michigan, georgia, saint petersburg, bucharest, budapest, belgrade, sofia, kiev, riga, vilnius, tallinn,
    albuquerque, tucson, fresno, oakland, san jose, long beach, santa barbara, palm springs, santa fe, el paso, fort worth, oklahoma city, kansas city, saint louis, omaha, des moines, milwaukee, madison, green bay,
    indianapolis, cincinnati, cleveland, columbus, pittsfield, buffalo, rochester, albany, syracuse, brooklyn, manhattan, queens, newark, princeton, hartford, providence, worcester, burlington, richmond, norfolk, charleston,
    savannah, jacksonville, orlando, fort lauderdale, key west, birmingham, memphis, louisville, lexington, little rock, baton rouge, boise, spokane, tacoma, eugene, reno, fargo, sioux falls, wichita, topeka, lincoln,
    cheyenne, billings, fairbanks, juneau, maine, vermont, new hampshire, massachusetts, connecticut, rhode island, new jersey, pennsylvania, delaware, maryland, virginia, west virginia, north carolina, south carolina,
    alabama, mississippi, louisiana, tennessee, kentucky, indiana, illinois, wisconsin, minnesota, missouri, arkansas, oklahoma, nebraska, south dakota, north dakota, wyoming, idaho, nevada, new mexico, halifax, regina,
    saskatoon, edmonton, victoria, yellowknife, ontario, british columbia, alberta, manitoba, newfoundland, greenland, tijuana, cancun, monterrey, puebla, oaxaca, acapulco, guatemala, honduras, el salvador, nicaragua,
    costa rica, panama, belize, haiti, port au prince, dominican republic, santo domingo, barbados, trinidad, the bahamas, bermuda, aruba, curacao, caracas, medellin, cali, quito, guayaquil, cusco, arequipa, la paz, sucre,
    asuncion, uruguay, cordoba, mendoza, patagonia, salvador, brasilia, recife, fortaleza, porto alegre, manaus, belo horizonte, guyana, suriname, bristol, oxford, cambridge, york, newcastle, sheffield, nottingham,
    birmingham england, brighton, plymouth, swansea, aberdeen, inverness, dundee, cork, galway, limerick, northern ireland, the isle of man, jersey, gibraltar, porto, faro, madeira, the azores, malaga, granada, bilbao,
    zaragoza, ibiza, mallorca, tenerife, gran canaria, andorra, monaco, lyon, toulouse, strasbourg, nantes, lille, montpellier, corsica, turin, genoa, bologna, florence, pisa, palermo, sicily, sardinia, bari, rotterdam,
    the hague, utrecht, eindhoven, ghent, bruges, liege, stuttgart, dusseldorf, leipzig, dresden, hanover, bremen, nuremberg, bonn, salzburg, graz, innsbruck, basel, bern, lausanne, liechtenstein, aarhus, gothenburg, malmo,
    uppsala, bergen, trondheim, tromso, turku, tampere, lapland, gdansk, wroclaw, poznan, lodz, brno, bratislava, slovakia, the czech republic, ljubljana, dubrovnik, sarajevo, bosnia, montenegro, podgorica, kosovo, pristina,
    albania, tirana, north macedonia, skopje, thessaloniki, crete, rhodes, santorini, cyprus, nicosia, varna, plovdiv, cluj, moldova, chisinau, odessa, kharkiv, lviv, minsk, latvia, lithuania, kazan, novosibirsk, vladivostok,
    yekaterinburg, sochi, kazakhstan, almaty, astana, kyrgyzstan, bishkek, tajikistan, turkmenistan, armenia, yerevan, azerbaijan, baku, izmir, antalya, bursa, syria, damascus, aleppo, lebanon, jordan, amman, haifa, kuwait,
    bahrain, oman, muscat, yemen, abu dhabi, mecca, medina, jeddah, basra, isfahan, shiraz, afghanistan, kabul, islamabad, rawalpindi, peshawar, hyderabad, pune, ahmedabad, jaipur, lucknow, surat, goa, kerala, punjab,
    calcutta, bombay, madras, varanasi, amritsar, bhutan, colombo, chittagong, myanmar, yangon, rangoon, mandalay, chiang mai, phuket, phnom penh, siem reap, vientiane, da nang, saigon, penang, borneo, brunei, surabaya,
    bandung, yogyakarta, lombok, cebu, davao, guam, east timor, papua new guinea, guangzhou, chengdu, wuhan, xian, tianjin, nanjing, hangzhou, chongqing, harbin, macau, tibet, lhasa, ulaanbaatar, incheon, pyongyang, sapporo,
    hiroshima, fukuoka, kobe, yokohama, nara, okinawa, kaohsiung, darwin, cairns, canberra, gold coast, alice springs, tasmania, newcastle australia, queensland, christchurch, dunedin, queenstown, samoa, tonga, tahiti,
    vanuatu, new caledonia, algeria, algiers, tunisia, tunis, libya, tripoli, alexandria, luxor, sudan, khartoum, eritrea, somalia, mogadishu, djibouti, uganda, kampala, rwanda, burundi, mombasa, dar es salaam, malawi, zambia,
    lusaka, zimbabwe, harare, botswana, namibia, windhoek, mozambique, maputo, angola, luanda, durban, pretoria, bloemfontein, lesotho, mauritius, the seychelles, reunion island, the congo, kinshasa, cameroon, gabon, abuja,
    kano, ivory coast, abidjan, liberia, sierra leone, guinea, senegal, the gambia, mali, bamako, mauritania, rabat, fez, tangier, cape verde, antarctica, the south pole, the north pole, the canary islands, the faroe islands,
    the balearics, silicon valley, hollywood, leeds""",
                  """reykjavik, montevideo, marrakesh, tbilisi, samarkand, nagoya, valencia, bordeaux, tulsa, san antonio, port moresby, kigali, antwerp, baltimore, hobart, panama city, zagreb, uzbekistan, madagascar, laos, paraguay, the maldives, oregon, montana, malta, luxembourg, guadalajara, tampa, dakar""")

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
# Name, month and day (0: it moves).
HOLIDAYS = [("christmas", 12, 25), ("christmas", 12, 25), ("christmas eve", 12, 24), ("christmas day", 12, 25), ("new year's eve", 12, 31), ("new year's day", 1, 1), ("new year", 1, 1), ("halloween", 10, 31), ("valentine's day", 2, 14),
    ("easter", 4, 0), ("easter sunday", 4, 0),
            ("good friday", 4, 0), ("easter monday", 4, 0), ("thanksgiving", 11, 0), ("mother's day", 5, 0), ("father's day", 6, 0), ("labor day", 9, 0), ("memorial day", 5, 0), ("independence day", 7, 4), ("the fourth of july", 7, 4),
            ("st patrick's day", 3, 17), ("boxing day", 12, 26),
            ("april fools day", 4, 1), ("martin luther king day", 1, 0), ("black friday", 11, 0), ("hanukkah", 12, 0), ("diwali", 11, 0), ("ramadan", 3, 0), ("passover", 4, 0), ("columbus day", 10, 0), ("veterans day", 11, 11), ("pancake day", 2, 0),
            ("the first day of spring", 3, 20),
            ("the first day of summer", 6, 21), ("chinese new year", 2, 0), ("mardi gras", 2, 0), ("groundhog day", 2, 2), ("earth day", 4, 22), ("the super bowl", 2, 0), ("cinco de mayo", 5, 5), ("may day", 5, 1), ("pentecost", 5, 0), ("eid", 4, 0),
            ("rosh hashanah", 9, 0), ("eid al fitr", 4, 0), ("holi", 3, 0), ("whit monday", 5, 0), ("maundy thursday", 4, 0), ("shrove tuesday", 2, 0), ("all saints day", 11, 1), ("all souls day", 11, 2), ("guy fawkes night", 11, 5), ("burns night", 1, 25),
            ("presidents day", 2, 0), ("juneteenth", 6, 19), ("flag day", 6, 14), ("st david's day", 3, 1), ("st george's day", 4, 23), ("remembrance day", 11, 11), ("queen's birthday", 6, 0), ("king's day", 4, 27), ("women's day", 3, 8),
            ("corpus christi", 6, 0), ("ascension day", 5, 0), ("purim", 3, 0), ("sukkot", 10, 0), ("shavuot", 6, 0), ("simchat torah", 10, 0), ("vesak", 5, 0), ("songkran", 4, 13), ("nowruz", 3, 21), ("lunar new year", 2, 0), ("golden week", 5, 0),
            ("oktoberfest", 9, 0), ("carnival", 2, 0), ("twelfth night", 1, 5), ("epiphany", 1, 6), ("advent", 12, 0), ("the winter solstice", 12, 21), ("the summer solstice", 6, 21), ("midsummer", 6, 24), ("tax day", 4, 15), ("election day", 11, 0),
            ("singles day", 11, 11), ("cyber monday", 12, 0), ("prom night", 5, 0), ("the world cup", 6, 0), ("the marathon", 4, 0), ("pi day", 3, 14), ("star wars day", 5, 4)]
HELD_HOLIDAYS = [("bastille day", 7, 14), ("canada day", 7, 1), ("ash wednesday", 2, 0), ("palm sunday", 4, 0), ("australia day", 1, 26), ("yom kippur", 10, 0)]
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()


class Asked(str):
    """A day as said, which the noise leaves alone because it is copied, with what is known of its date."""

    def __new__(cls, text, month=0, date=0, weekday=None):
        self = super().__new__(cls, text)
        self.month, self.date, self.weekday = month, date, weekday
        return self


# --- times of day

def two(n, oh):
    """Minutes as words: 5 as "oh five"."""
    return f"{oh} {UNITS[n]}" if n < 10 else UNITS[n] if n < 20 else TENS[n // 10] + (" " + UNITS[n % 10] if n % 10 else "")


def minute(g):
    k = g.rng.random()
    if k < (0.35 if g.held else 0.44):
        return 0
    if k < (0.5 if g.held else 0.66):
        return 30
    if k < (0.65 if g.held else 0.8):
        return g.pick([15, 45])
    if k < (0.7 if g.held else 0.9):
        return g.pick([5, 10, 20, 25, 35, 40, 50, 55])
    return g.number(1, 59)


def hands(g, h, m):
    """An hour of 1..12 and minutes in one of the ways people say or write them (h is the hour that the minutes belong to)."""
    num = UNITS[h]
    if m == 0:
        k = g.rng.random()
        if k < 0.36:
            return num, "words"
        if k < 0.68:
            return str(h), "digits"
        if k < 0.86:
            return g.pick([str(h), num]) + g.pick([" o'clock", " o'clock", " o clock", " oclock"]), "clock"
        return f"{h}:00", "digits"
    k = g.rng.random()
    after = UNITS[h % 12 + 1]
    pick_hour = lambda word, n: word if g.chance(0.75) else str(n)
    if k < 0.36 and (m % 5 == 0 or g.chance(0.25)):
        if m == 30:
            return ("half " + num if g.chance(0.08) else "half past " + pick_hour(num, h)), "clock"
        near = m if m < 30 else 60 - m
        amount = g.pick(["quarter", "quarter", "a quarter"]) if near == 15 else g.pick([str(near), two(near, "")]).strip() + ("" if near % 5 == 0 and g.chance(0.85) else " minutes" if near > 1 else " minute")
        return (f"{amount} {g.pick(['past', 'past', 'after'])} {pick_hour(num, h)}" if m < 30 else f"{amount} {g.pick(['to', 'to', 'to', 'till', 'before'])} {pick_hour(after, h % 12 + 1)}"), "clock"
    if k < 0.68:
        return f"{h}{g.pick([':', ':', ':', ':', '.', '', ' '])}{m:02d}", "digits"
    return f"{num} {two(m, g.pick(['oh', 'oh', 'o', 'zero']))}", "words"


def with_half(g, h, m, half):
    """With am or pm."""
    text, kind = hands(g, h, m)
    forms = [half, half, half, f"{half[0]}.m.", f"{half[0]} m"]
    return text + ("" if kind == "digits" and g.chance(0.5) else " ") + (g.pick(forms) if kind != "digits" else g.pick([half, half, half, f"{half[0]}.m."]))


PARTS = {"morning": (3, 11), "afternoon": (1, 5), "evening": (5, 11), "night": (6, 11)}


def hour_in(g, part):
    a, b = PARTS[part]
    return g.between(a, b) if g.chance(0.4) else g.between(*{"morning": (5, 9), "afternoon": (2, 4), "evening": (6, 9), "night": (8, 11)}[part])


def of24(h, m):
    return f"{h:02d}:{m:02d}"


def in_part(h, part):
    return h if part == "morning" else h + 12


def clock(g):
    """A time without a day: (text, value, whether the half of the day was said)."""
    k = g.rng.random()
    if k < 0.05:
        return g.pick([("noon", "12:00", True), ("noon", "12:00", True), ("midnight", "00:00", True), ("midnight", "00:00", True), ("midday", "12:00", True), ("twelve noon", "12:00", True), ("12 noon", "12:00", True)])
    h, m = (g.between(1, 12) if g.chance(0.55) else g.between(5, 10)), minute(g)
    if k < 0.12:  # the 24-hour clock
        h = g.between(13, 23)
        text = g.pick([f"{h}:{m:02d}", f"{h}:{m:02d}", f"{h}:{m:02d}", f"{h} {m:02d}", f"{h}{m:02d}"]) if g.chance(0.75) or m == 0 else f"{two(h, '')} {two(m, 'oh')}"
        return text, of24(h, m), True
    if k < 0.14:
        h = g.between(5, 9)
        return f"0{h}{g.pick([':', ':', ''])}{m:02d}", of24(h, m), False
    if k < 0.42:
        half = g.pick(["am", "pm"])
        return with_half(g, h, m, half), of24(h % 12 + (12 if half == "pm" else 0), m), True
    if k < 0.58:
        part = g.pick(["morning", "morning", "afternoon", "evening", "evening", "night"])
        h = hour_in(g, part)
        text = hands(g, h, m)[0] if g.chance(0.92) else with_half(g, h, m, "am" if part == "morning" else "pm")
        return text + (" at night" if part == "night" else f" in the {part}"), of24(in_part(h, part), m), True
    return hands(g, h, m)[0], of24(h, m), False


def time(g):
    text, value, fixed = clock(g)
    return text, {"time": value, "fixed": fixed}


def short_time(g):
    """A time that can stand before "alarm": "7 am", "seven thirty", "8 o'clock"."""
    k = g.rng.random()
    if k < 0.06:
        return g.pick([("noon", {"time": "12:00", "fixed": True}), ("midnight", {"time": "00:00", "fixed": True})])
    h, m = g.between(1, 12), minute(g)
    if k < 0.12:
        h = g.between(13, 23)
        return f"{h}:{m:02d}", {"time": of24(h, m), "fixed": True}
    num = g.pick([UNITS[h], str(h)])
    if m:
        text = g.pick([f"{h}:{m:02d}", f"{h}:{m:02d}", f"{h} {m:02d}", f"{h}{m:02d}", f"{UNITS[h]} {two(m, 'oh')}", f"{UNITS[h]} {two(m, 'oh')}"])
        text = g.pick(["half past " + UNITS[h], text, text]) if m == 30 else text
    else:
        text = num
    if m == 0 and k > 0.6:
        return text + g.pick([" o'clock", " o clock"]), {"time": of24(h, 0), "fixed": False}
    if m and k > 0.5:
        return text, {"time": of24(h, m), "fixed": False}
    half = g.pick(["am", "pm"])
    return text + g.pick([" ", " ", "" if text[-1].isdigit() else " "]) + g.pick([half, half, f"{half[0]}.m."]), {"time": of24(h % 12 + (12 if half == "pm" else 0), m), "fixed": True}


def an_hour(g):
    text, value = short_time(g)
    return ("an " if text.startswith(("eight", "eleven", "8", "11", "18")) else "a ") + text, value


# --- days

def ordinal(g, n):
    if g.chance(0.5):
        return f"{n}{'th' if 10 < n < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"
    return ORDINALS[n - 1] if n < 20 else {20: "twentieth", 30: "thirtieth"}.get(n) or TENS[n // 10] + g.pick([" ", "-"]) + ORDINALS[n % 10 - 1]


def calendar_day(g):
    """ "the 5th of may", "may 5", "the 12th": (text, month or 0, day)."""
    m, d = g.between(1, 12), g.number(1, 28)
    name = MONTHS[m - 1]
    k = g.rng.random()
    if k < 0.25:
        return f"the {ordinal(g, d)}", 0, d
    if k < 0.55:
        return f"the {ordinal(g, d)} of {name}", m, d
    if k < 0.8:
        return f"{name} {g.pick(['', '', 'the '])}{ordinal(g, d)}", m, d
    return (f"{name} {g.say_number(d)}" if g.chance(0.75) else f"{d} {name}"), m, d


EVERY = [("every day", "daily"), ("every day", "daily"), ("daily", "daily"), ("each day", "daily"), ("every single day", "daily"), ("on weekdays", "weekdays"), ("every weekday", "weekdays"), ("weekdays", "weekdays"), ("monday to friday", "weekdays"),
    ("monday through friday", "weekdays"),
         ("from monday to friday", "weekdays"), ("on workdays", "weekdays"), ("on weekends", "weekends"), ("every weekend", "weekends"), ("on the weekend", "weekends"), ("weekends", "weekends"), ("on saturdays and sundays", "weekends"),
    ("everyday", "daily"), ("at the weekend", "weekends"), ("at weekends", "weekends"), ("during the week", "weekdays"), ("on week days", "weekdays"), ("mon to fri", "weekdays"), ("saturday and sunday", "weekends"), ("all week days", "weekdays")]
SHORT_DAYS = {"mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thurs": "thursday", "fri": "friday", "sat": "saturday", "sun": "sunday"}
FEASTS = ["christmas", "christmas day", "christmas eve", "new year's day", "new year's eve", "easter sunday", "good friday", "boxing day", "thanksgiving", "halloween"]


def rare_day(g, sign):
    k = g.rng.random()
    if k < 0.35:
        s = g.pick(list(SHORT_DAYS))
        return s, SHORT_DAYS[s]
    if k < 0.5:
        return g.pick(["tmrw", "tmr", "tomoz"]), "tomorrow"
    if k < 0.75:
        return "the day after tomorrow", "the day after tomorrow"
    d = g.pick(FEASTS)
    return sign + d, d


def on_day(g):
    """An adverb: "tomorrow", "on friday", "every day"."""
    k = g.rng.random()
    d = g.pick(WEEKDAYS)
    if k < 0.03:
        return rare_day(g, "on ")
    if k < 0.38:
        return "tomorrow", "tomorrow"
    if k < 0.45:
        return "today", "today"
    if k < 0.62:
        return g.pick([f"on {d}", f"on {d}", f"on {d}", f"{d}", f"this {d}", f"this coming {d}"]), d
    if k < 0.67:
        return f"next {d}", d
    if k < 0.74:
        return g.pick([f"every {d}", f"on {d}s", f"each {d}", f"every {d}"]), d
    if k < 0.92:
        return g.pick(EVERY)
    text = calendar_day(g)[0]
    return f"on {text}", text


def bare_day(g):
    """A noun, after "for": "tomorrow", "monday", "weekdays"."""
    k = g.rng.random()
    d = g.pick(WEEKDAYS)
    if k < 0.03:
        return rare_day(g, "")
    if k < 0.4:
        return "tomorrow", "tomorrow"
    if k < 0.46:
        return "today", "today"
    if k < 0.72:
        return g.pick([d, d, d, f"this {d}", f"next {d}"]), d
    if k < 0.76:
        return f"every {d}", d
    if k < 0.92:
        return g.pick([("every day", "daily"), ("weekdays", "weekdays"), ("every weekday", "weekdays"), ("weekends", "weekends"), ("the weekend", "weekends"), ("monday to friday", "weekdays")])
    text = calendar_day(g)[0]
    return text, text


def daypart(g):
    """(text, day or None, part of the day)"""
    d, part = g.pick(WEEKDAYS), g.pick(["morning", "morning", "morning", "afternoon", "evening", "evening", "night"])
    k = g.rng.random()
    if k < 0.34:
        return "tonight", "tonight", "night"
    if k < 0.46:
        return "this evening", "tonight", "evening"
    if k < 0.51:
        return "this afternoon", "today", "afternoon"
    if k < 0.76:
        return f"tomorrow {part}", "tomorrow", part
    if k < 0.86:
        return f"{d} {part}", d, part
    return f"{g.pick(['every', 'every', 'each'])} {part}", "daily", part


def when(at):
    """Time and, mostly, day. at=True: an adverb ("at seven tomorrow", "on friday at 7 pm"); else what follows "for"."""
    def slot(g):
        sign = "at " if at else ""
        k = g.rng.random()
        if k < 0.5:
            text, value, fixed = clock(g)
            return sign + text, {"time": value, "fixed": fixed}
        if k < 0.66:
            text, value, fixed = clock(g)
            day, name = on_day(g)
            return f"{sign}{text} {day}", {"time": value, "day": name, "fixed": fixed}
        if k < 0.8:
            text, value, fixed = clock(g)
            day, name = (on_day if at else bare_day)(g)
            return f"{day} {g.pick(['at ', 'at ', 'at ', 'at ', 'at ', ''] if at or day[-1].isalpha() else ['at '])}{text}", {"time": value, "day": name, "fixed": fixed}
        text, day, part = daypart(g)
        if at and g.chance(0.06):
            part = g.pick(["morning", "morning", "afternoon", "evening"])
            h, m = hour_in(g, part), minute(g)
            return f"in the {part} at {hands(g, h, m)[0]}", {"time": of24(in_part(h, part), m), "fixed": True}
        if g.chance(0.05) and day in ("tonight",):
            return g.pick([f"{sign}midnight tonight", "tonight at midnight"]), {"time": "00:00", "day": "tonight", "fixed": True}
        h, m = hour_in(g, part), minute(g)
        said = hands(g, h, m)[0] if g.chance(0.88) else with_half(g, h, m, "am" if part == "morning" else "pm")
        value = {"time": of24(in_part(h, part), m), "day": day, "fixed": True}
        prefix = "on " if at and day in WEEKDAYS and g.chance(0.6) else ""
        return (f"{prefix}{text} at {said}" if g.chance(0.5) else f"{sign}{said} {prefix}{text}"), value
    return slot


def feast(g):
    """Name, month and day of a holiday; in training some are made up."""
    if g.held:
        return g.pick(HELD_HOLIDAYS)
    if g.chance(0.8):
        return g.pick(HOLIDAYS)
    return g.invented() + g.pick([" day", " day", " night", " festival", " sunday", " monday", "", " " + g.invented(), " " + g.invented()]), g.between(1, 12), 0


def asked_day(g):
    """The day of a question about the date."""
    k = g.rng.random()
    if k < 0.36:
        name, m, d = feast(g)
        text = name + (g.pick([" this year", " next year"]) if g.chance(0.12) else "")
        return text, Asked(text, m, d)
    if k < 0.6:
        return a_date(g)
    return relative_day(g)


def a_date(g):
    text, m, d = calendar_day(g)
    return text, Asked(text, m, d)


def holiday(g):
    name, m, d = feast(g)
    return name, Asked(name, m, d)


def named_day(g):
    """A holiday or a date."""
    return holiday(g) if g.chance(0.6) else a_date(g)


def relative_day(g):
    return near_day(g) if g.chance(0.6) else weekday_asked(g)


def near_day(g):
    text = g.pick(["tomorrow", "tomorrow", "tomorrow", "yesterday", "yesterday", "the day after tomorrow", "the day before yesterday"])
    return text, Asked(text)


def weekday_asked(g):
    d = g.pick(WEEKDAYS)
    text = g.pick([d, d, f"next {d}", f"this {d}", f"last {d}"])
    return text, Asked(text, weekday=d)


def last_weekday(g):
    d = g.pick(WEEKDAYS)
    return f"last {d}", Asked(f"last {d}", weekday=d)


# --- what for

def task(g):
    """A thing to do: one in two is put together from people and things."""
    if g.chance(0.55):
        w = g.word(TASKS)
    else:
        p = g.word(PEOPLE) if g.chance(0.7) else None
        if p:
            w = g.pick(["call {}", "call {}", "call {}", "text {}", "email {}", "ring {}", "phone {}", "message {}", "call {} back", "write to {}", "pick up {}", "pick {} up", "meet {}", "talk to {}", "visit {}", "wish {} a happy birthday", "pay {} back",
                        "send {} the photos", "send {} an email", "ask {} about the trip", "buy {} a present", "reply to {}", "thank {}", "drive {} to the airport", "help {} with the homework", "wake {}", "wake {} up", "take {} to the doctor",
                        "get a card for {}",
                        "pick up {} from work", "pick up {} from the station", "see {}", "bring {} some soup", "give {} the keys", "tell {} about the party", "facetime {}", "invite {} for dinner", "remind {} about the meeting",
                        "give {} a call"]).format(p)
        else:
            w = g.pick(["buy {}", "get {}", "pick up {}", "order {}", "bring {}", "look for {}", "ask for {}", "pay for {}"]).format(g.word(THINGS))
    return w, w


def timer_task(g):
    """As task, but more often in the kitchen."""
    return kitchen_task(g) if g.chance(0.3) else task(g)


def kitchen_task(g):
    w = g.pick(["check the {}", "check the {}", "check on the {}", "look at the {}", "check my {}", "flip the {}", "turn the {}", "stir the {}", "take the {} out", "take out the {}", "get the {} out", "drain the {}", "baste the {}", "take the {} off",
                "turn off the {}", "turn the {} down", "put the {} in", "take the lid off the {}", "cover the {}"]).format(g.word(POTS))
    return w, w


def occasion(g):
    """What one is reminded of: "grandma's birthday dinner", "the call with tom" (without its article)."""
    p = g.word(PEOPLE)
    if g.chance(0.5) or p.startswith("the "):
        w = g.pick([f"dinner with {p}", f"lunch with {p}", f"the meeting with {p}", f"the call with {p}", f"drinks with {p}", f"coffee with {p}"])
    else:
        w = f"{p}'s {g.pick(['birthday', 'birthday', 'birthday dinner', 'party', 'birthday party', 'wedding', 'flight', 'appointment', 'concert', 'school play', 'recital', 'visit', 'game', 'train'])}"
    return w, w.removeprefix("the ") if " with " in w else w


def thing(g):
    """An object that must not be forgotten; the words go without their article."""
    w = g.word(OBJECTS)
    return w, w


def far_day(g):
    """ "in three days", "a week from today": (text, as said)"""
    n = g.say_number(g.number(2, 30))
    text = g.pick([f"in {n} days", f"in {n} days", f"{n} days from now", f"{n} days from today", "in a week", "a week from today", "a week from now", "in two weeks", "two weeks from today", "two weeks from now", "in a month", "a month from now", "in 2 weeks",
                   f"in {n} weeks", "a week from tomorrow", f"a week from {g.pick(WEEKDAYS)}", "a week on " + g.pick(WEEKDAYS)])
    return text, Asked(text)


def past_day(g):
    n = g.say_number(g.number(2, 30))
    text = g.pick([f"{n} days ago", f"{n} days ago", "a week ago", "two weeks ago", "a month ago", f"{n} weeks ago"])
    return text, Asked(text)


def nth_day(g):
    """ "the first monday in may" """
    d, m = g.pick(WEEKDAYS), g.pick(MONTHS)
    text = g.pick([f"the {g.pick(['first', 'second', 'third', 'fourth', 'last'])} {d} {g.pick(['in', 'of'])} {m}"] * 4 + [f"the last day of {m}", "the last day of the month", "the last day of this month", "the first of next month", f"the first {d} of the month"])
    return text, Asked(text, weekday=d if d in text else None)


def day_of(g):
    """ "tomorrow's", "friday's": (text, day)"""
    d = g.pick(["tomorrow", "tomorrow", "today", "tonight"]) if g.chance(0.5) else g.pick(WEEKDAYS)
    return f"{d}'s", d


def other_time(g):
    return hands(g, g.between(1, 12), g.pick([0, 0, 0, 30, 15]))[0], None


def other_day(g):
    return g.pick(WEEKDAYS + ["tomorrow"]), None


def event(g):
    w = g.word(EVENTS)
    return w, w


def place(g):
    w = g.word(PLACES)
    return w, w


def person(g):
    w = g.word(PEOPLE)
    return w, w


def snooze(g):
    k = g.rng.random()
    if k < 0.08 and not g.held:
        return g.pick([("half an hour", 30), ("an hour", 60), ("a quarter of an hour", 15), ("a couple of minutes", 2), ("a minute", 1), ("one hour", 60), ("a half hour", 30)])
    n = g.number(1, 60) if g.chance(0.5) or g.held else g.number(5, 30, 5)
    if n == 1:
        return g.pick([("one minute", 1), ("1 minute", 1)])
    return f"{g.say_number(n)} {g.pick(['minutes'] * 6 + ['mins', 'min'])}", n


def count(g):
    n = g.number(2, 45) if g.chance(0.5) or g.held else g.number(5, 30, 5)
    return g.say_number(n), n


SLOTS = {"at": when(True), "when": when(False), "time": time, "onday": lambda g: on_day(g), "day": lambda g: bare_day(g), "task": task, "event": event, "place": place, "dur": duration, "ttask": timer_task,
         "snooze": snooze, "count": count, "asked": asked_day, "rel": relative_day, "tom": near_day, "wday": weekday_asked, "named": named_day, "holiday": holiday, "calendar": a_date, "lastday": last_weekday, "clk": short_time, "aclk": an_hour, "who": person, "adj": adjective_duration, "occ": occasion, "thing": thing, "far": far_day, "ago": past_day, "nthday": nth_day,
         "dayof": day_of, "othert": other_time, "otherd": other_day}


# --- calls

def moment(v):
    """Time and day, wherever the wording put them."""
    m = {}
    for key in ("at", "when", "time", "clk", "aclk"):
        m.update(v.get(key) or {})
    for key in ("onday", "day", "dayname", "dayof"):
        if v.get(key):
            m["day"] = v[key]
    return m


def alarm(v, *name_keys):
    name = next((v[k] for k in name_keys if v.get(k)), None)
    return arguments({**moment(v), "name": name}, "time", "day", "name")


def moved(v, keep_name, name=None):
    """The alarm of the turn before with a new time, or a new day, or both."""
    old, new = v["prev"].get("args", {}), moment(v)
    t, day = new.get("time"), new.get("day")
    if t is None:
        t = old.get("time", "07:00")
    elif day is None:
        day = old.get("day")
        if day == "tonight":  # the hour as said, except that tonight's eight is in the evening
            h, m = int(t[:2]), t[3:]
            if not new["fixed"] and 5 <= h <= 12:
                t = f"{(h + 12) % 24:02d}:{m}"
            elif new["fixed"] and 4 <= h < 17:
                day = None
    return "set_alarm", arguments({"time": t, "day": day, "name": name or (old.get("name") if keep_name else None)}, "time", "day", "name")


def half_of(old, half):
    h, m = int(old.get("time", "07:00")[:2]), old.get("time", "07:00")[3:]
    day = None if half == "am" and old.get("day") == "tonight" else old.get("day")
    return arguments({**old, "time": of24(h % 12 + (12 if half == "pm" else 0), int(m)), "day": day}, "time", "day", "name")


# --- answers

def twelve(t):
    h = int(t[:2])
    return f"{(h + 11) % 12 + 1}:{t[3:]} {'AM' if h < 12 else 'PM'}"


def capital(day):
    return " ".join(w.capitalize() if w in WEEKDAYS or w in MONTHS else w for w in day.split())


def on(day):
    if day in ("today", "tonight", "tomorrow"):
        return day
    return "every day" if day == "daily" else "on " + capital(day)


def upper(text):
    return text[:1].upper() + text[1:]


SMALL = ("of", "the", "de", "and")
BIG = ("us", "usa", "uk", "dc")


def proper(p):
    return " ".join(w if w in SMALL else w.upper() if w in BIG else upper(w) for w in p.split())


def say_set(g, v, args, result):
    return ("Reminder" if "name" in args else "Alarm") + f" set for {twelve(args['time'])}" + (" " + on(args["day"]) if "day" in args else "") + (f": {args['name']}." if "name" in args else ".")


def maybe(p, error):
    return lambda g, v, args: {"error": error} if g.chance(p) else {"ok": True}


def cancelled(g, v, args):
    return {"error": "no alarm set" if not args or args.get("all") else "no such alarm"} if g.chance(0.1) else {"ok": True}


def say_cancel(g, v, args, result):
    if "error" in result:
        return f"There is {result['error']}."
    day = args.get("day")
    if args.get("all"):
        return "All alarms" + (f" {on(day)}" if day else "") + " canceled."
    text = ("Reminder" if "name" in args else "Alarm") + (f" for {twelve(args['time'])}" if "time" in args else "") + (f" {on(day)}" if day else "") + " canceled"
    return text + (f": {args['name']}." if "name" in args else ".")


def some_alarms(g, v, args):
    n = g.pick([0, 1, 1, 1, 2, 2, 3])
    out, seen = [], set()
    for _ in range(n):
        a = {"time": of24(g.between(0, 23) if g.chance(0.3) else g.between(5, 9), g.pick([0, 0, 30, 15, 45, g.between(0, 59)]))}
        if a["time"] in seen:
            continue
        seen.add(a["time"])
        if "day" in args:
            a["day"] = args["day"]
        elif g.chance(0.7):
            a["day"] = g.pick(["today", "tonight", "tomorrow", "tomorrow", "weekdays", "weekends", "daily"] + WEEKDAYS)
            if a["day"] == "tonight":
                a["time"] = of24(g.between(19, 23), g.pick([0, 15, 30, 45]))
        if g.chance(0.25):
            a["name"] = task(g)[0] if g.chance(0.5) else g.word(EVENTS)
        out.append(a)
    return {"alarms": out}


def say_alarms(g, v, args, result):
    if not result["alarms"]:
        return "You have no alarms" + (f" {on(args['day'])}" if "day" in args else "") + "."
    each = [twelve(a["time"]) + (" " + on(a["day"]) if "day" in a else "") + (f" ({a['name']})" if "name" in a else "") for a in result["alarms"]]
    return ("You have an alarm at " if len(each) == 1 else "You have alarms at ") + joined(each) + "."


def the_time(g, v, args):
    if "place" in args and g.chance(0.08):
        return {"error": "unknown place"}
    return {"time": f"{g.between(1, 12)}:{g.between(0, 59):02d} {g.pick(['AM', 'PM'])}"}


def say_time(g, v, args, result):
    where = f" in {proper(args['place'])}" if "place" in args else ""
    return f"I don't know the time{where}." if "error" in result else f"It's {result['time']}{where}."


ASKED = ("asked", "rel", "tom", "wday", "named", "holiday", "calendar", "lastday", "far", "ago", "nthday")


def the_date(g, v, args):
    a = next((v[k] for k in ASKED if v.get(k)), Asked("")) if "day" in args else Asked("")
    return {"date": f"{(a.weekday or weekday_in(a) or g.pick(WEEKDAYS)).capitalize()}, {MONTHS[(a.month or g.between(1, 12)) - 1].capitalize()} {a.date or g.between(1, 28)}"}


def weekday_in(day):
    """Holidays that fix the weekday."""
    return {"good": "friday", "black": "friday", "thanksgiving": "thursday", "mother's": "sunday", "father's": "sunday", "labor": "monday", "memorial": "monday", "columbus": "monday", "martin": "monday", "ash": "wednesday", "palm": "sunday",
        "pancake": "tuesday", "mardi": "tuesday"}.get(
        day.split(" ")[0]) or ("monday" if day.startswith("easter m") else "sunday" if day.startswith(("easter", "pentecost", "the super")) else None)


def say_date(g, v, args, result):
    return f"{'That' if 'day' in args else 'It'}'s {result['date']}."


def date_call(v):
    return "get_date", {"day": "tomorrow" if v.get("tomorrow") else str(next(v[k] for k in ASKED if v.get(k)))}


def alarm_call(v):
    return "set_alarm", alarm(v)


def length(v):
    d = v.get("dur") or v.get("adj")
    return {k: d[k] for k in ("hours", "minutes", "seconds") if k in d}


def again_cancel(v):
    return "cancel_alarm", arguments(v["prev"].get("args", {}), "time", "day")


SETS = ("clock.set", "clock.set.named", "clock.remind", "clock.set.change", "clock.set.another")

INTENTS = [
    Intent(
        "clock.set", weight=3,
        patterns=[
            "(set|make|create|add|put on|schedule|program|start|turn on|give me|i need|i want|i'd like|activate|get me) (an|the|another|a new|my|one) alarm for {when}", "(set|make|create|add|put|schedule|start) (an|the|another|a new|my) alarm {at}",
            "(need|want|gimme) an alarm for {when}", "(need|want) an alarm {at}", "i would like an alarm (for {when}|{at})", "set me an alarm for {when}", "set me an alarm {at}", "set (my|the|an) alarm {when}",
            "set (my|the) alarm {at}", "set a alarm for {when}", "put alarm {when}", "put alarm {at}", "make alarm {at}", "make an alarm for {when}", "alarm please {when}", "{at} alarm", "{day} alarm {time}", "{day} alarm at {time}",
            "{onday} alarm at {time}", "alarm {onday} at {time}", "alarm for {day} at {time}", "wake up alarm {when}", "wake up alarm for {when}", "morning alarm at {time}",
            "(stick|pop|bung|chuck|throw|whack|sling|get) an alarm on for {when}", "(stick|pop|bung|throw|put) an alarm (on|in) {at}", "{when} wake me [up]", "{onday} {clk} wake me up", "wake me {clk} {onday}", "wake me up {clk}",
            "wake up {clk} {onday}", "get me up at {time} (sharp|on the dot)", "wake me [up] at {time} (sharp|on the dot|exactly)", "wake me [up] at exactly {time}", "make it ring {at}", "make it go off {at}",
            "{at} ring (an|the|my) alarm", "{at} set (an|the|my) alarm", "{onday} at {time} (ring|sound|set) an alarm", "up {at}", "up by {time} {onday}", "gotta be up {at}", "got to be up {at}", "have to be up {at}",
            "need to be up {at}", "i have to be up by {time} {onday} set an alarm", "i need to be up by {time} set an alarm", "early (start|flight|shift|meeting) {onday} wake me [up] at {time}",
            "i've got an early (start|flight|shift|meeting|train) {onday} [so] wake me [up] at {time}", "i have an early (start|flight|shift|meeting|train) {onday} [so] (get me up|wake me) at {time}",
            "i've got a really early (start|flight|train) {onday} so [please] make sure you wake me [up] at {time}", "i've got work {onday} (wake me|get me up) at {time}",
            "set alarm [for|to] {when}", "set alarm {at}", "alarm {when}", "alarm for {when}", "alarm {at}",
            "an alarm for {when}", "an alarm {at}", "{when} alarm", "new alarm [for] {when}", "new alarm {at}", "set (an|the|my) alarm to {when}", "set (an|my|the) alarm clock (for|to) {when}", "set the alarm clock {at}", "alarm clock {when}",
            "alarm set for {when}", "alarm on {at}", "alarm on for {when}",
            "(set|make|create|add) (an|my|another) alarm for {day} at {time}", "(set|make|create|add) (an|my|another) alarm for {day} for {time}", "(set|make|create|add) an alarm for {time} for {day}", "(set|add|make) an alarm {onday} for {time}",
            "{onday} set an alarm for {time}", "for {day} set an alarm {at}",
            "set {aclk} alarm", "set {aclk} alarm for {day}", "set {aclk} alarm {onday}", "make {aclk} alarm", "i need {aclk} alarm", "i need {aclk} alarm {onday}", "put in {aclk} alarm", "add {aclk} alarm {onday}", "give me {aclk} alarm",
            "{clk} alarm for {day}", "{clk} alarm {onday}",
            "set the {clk} alarm", "turn on the {clk} alarm", "enable the {clk} alarm", "activate my {clk} alarm", "turn my {clk} alarm on", "switch on the alarm for {when}", "turn the alarm on for {when}", "put the alarm on for {when}",
            "put an alarm on {at}", "put an alarm in for {when}", "stick an alarm on for {when}",
            "wake me up {at}", "wake me {at}", "wake me up (by|before|around|about) {time}", "wake me up by {time} {onday}", "wake me up {onday} at {time}", "{onday} wake me [up] at {time}", "wake up {at}", "wake up {when}", "wake me {when}",
            "wake us [up] {at}", "wake us {onday} at {time}", "{at} wake me [up]", "wake up call {at}", "wake up call for {when}", "a wake up call {at}",
            "give me a wake up call {at}", "i want to (wake up|get up|be up|rise|be awake|be woken|be woken up) {at}", "i need to (wake up|get up|be up|be awake|be out of bed|be woken up) {at}",
            "i have to (wake up|get up|be up|be awake|be out of bed) {at}", "i must (get up|wake up|be up) {at}", "i've got to (get up|wake up|be up) {at}", "i gotta (get up|be up|wake up) {at}", "i should (get up|be up|wake up) {at}",
            "i'm supposed to (get up|be up|wake up) {at}",
            "i need to be up by {time}", "i have to be up by {time} {onday}", "we need to (get up|be up|wake up) {at}", "we have to (get up|be up) {at} set an alarm", "i'm getting up {at}", "i'm getting up {at} set an alarm",
            "i get up {at} set the alarm", "i have to get up {at} so set an alarm",
            "get me up {at}", "get me up by {time}", "get me out of bed {at}", "drag me out of bed {at}", "kick me out of bed {at}", "make sure i'm (up|awake) {at}", "make sure i'm up by {time}", "make sure i (wake up|get up|am awake|am up) {at}",
            "don't let me sleep past {time}", "don't let me sleep past {time} {onday}", "don't let me sleep longer than {time}", "don't let me oversleep wake me {at}",
            "let me sleep until {time}", "let me sleep till {time}", "let me sleep until {time} {onday}", "i want to sleep until {time}", "i can sleep until {time}", "let us sleep until {time}", "i'd like to be woken {at}",
            "i would like to be woken up {at}", "i'd like to wake up {at}", "can i get a wake up call {at}", "can i have an alarm {at}", "can i get an alarm for {when}", "could i have an alarm for {when}", "may i have an alarm {at}",
            "ring {at}", "ring me {at}", "ring the alarm {at}", "ring the bell {at}", "buzz me {at}", "beep {at}", "go off {at}", "sound the alarm {at}", "let the alarm ring {at}", "let the alarm go off {at}", "make the alarm ring {at}",
            "make the alarm go off {at}", "have the alarm go off {at}", "have an alarm {at}", "have an alarm ready for {when}", "play an alarm {at}",
            "(alert|notify|warn|ping) me {at}", "let me know when it's {time}", "tell me when it's {time}", "let me know when it is {time}", "remind me when it's {time}", "tell me when it gets to {time}", "warn me when it's {time}",
            "give me a shout {at}", "give me a heads up {at}", "remind me {at}", "set a reminder for {when}", "set a reminder {at}", "reminder {at}",
            "i need an alarm {at}", "i need to set an alarm for {when}", "i want to set an alarm for {when}", "i'd like to set an alarm {at}", "we need an alarm for {when}", "we want an alarm {at}", "there should be an alarm {at}",
            "how about an alarm {at}", "how about an alarm for {when}", "what about an alarm for {when}", "is it possible to set an alarm for {when}", "can we have an alarm {at}", "an alarm please for {when}", "an alarm is needed {at}",
            "alarm every day at {time} => dayname=daily", "set a daily alarm for {time} => dayname=daily", "set a daily alarm at {time} => dayname=daily", "daily alarm at {time} => dayname=daily",
            "set a recurring alarm for {time} every day => dayname=daily", "set a weekday alarm for {time} => dayname=weekdays", "weekday alarm {time} => dayname=weekdays", "set my weekday alarm to {time} => dayname=weekdays",
            "set a weekend alarm for {time} => dayname=weekends", "weekend alarm {time} => dayname=weekends", "wake me up every day at {time} => dayname=daily", "wake me daily at {time} => dayname=daily",
            "set tomorrow's alarm for {time} => dayname=tomorrow", "set tomorrow's alarm to {time} => dayname=tomorrow", "tomorrow's alarm is {time} => dayname=tomorrow", "alarm tomorrow {time} => dayname=tomorrow",
            "set a repeating alarm for {time} {onday}", "set a recurring alarm {at}", "i need to leave the bed {at}", "time to get up is {time}", "get up time is {time}", "my alarm should be {at}", "my alarm should ring {at}",
            "my alarm should go off {at}", "the alarm should ring {at}", "i need the alarm {at}", "i need my alarm to go off {at}", "i want my alarm to ring {at}", "i want the alarm to go off {at}",
            "i've got school {onday} wake me up at {time}", "we're leaving early {onday} wake us at {time}", "i can't be late {onday} wake me at {time}", "i can't oversleep {onday} wake me at {time}", "i mustn't sleep past {time}",
            "i start at {othert} so wake me at {time}", "i have to leave at {othert} so wake me at {time}", "my train goes at {othert} wake me at {time}", "don't let me sleep in past {time}",
            "don't let me sleep in {onday} wake me at {time}", "don't let me lie in past {time} {onday}", "make sure you wake me [up] {at}", "make sure you get me up {at}", "be sure to wake me {at}", "see to it that i'm up {at}",
            "i need waking [up] {at}", "i need you to get me up at {time} {onday}", "i want you to wake me {at}", "you need to wake me {at}", "you have to wake me up {at}", "give me a wake up alarm {at}",
            "give us a wake up call {at}", "give me a morning call {at}", "can you get me up {at}", "will you wake me up {at}", "would you wake me {at}", "wake me up when it's {time}", "wake me when it's {time}",
            "wake me as soon as it's {time}", "wake me no later than {time}", "wake me at {time} not later", "wake me not later than {time}", "wake me not before {time}", "wake me around {time} {onday}", "wake me from sleep {at}",
            "wakey wakey {at}", "rise and shine {at}", "i'm getting up {at} wake me", "alarm me {at}", "alarm me up {at}", "ring me awake {at}", "keep an alarm for {when}", "keep alarm for {when}", "keep alarm {at}",
            "keep the alarm {at}", "do an alarm for {when}", "do me an alarm for {when}", "do me an alarm {at}", "have an alarm for {when}", "can you do an alarm {at}", "could you do me an alarm for {when}",
            "could you pop an alarm on for {when}", "create alarm {at}", "create alarm for {when}", "add alarm {at}", "add alarm {when}", "new alarm for {when}", "one alarm for {when}", "one alarm {at} please",
            "another alarm for {when}", "another alarm {at}", "a second alarm for {when}", "an additional alarm {at}", "also set an alarm for {when}", "extra alarm {at}", "backup alarm {at}", "set a backup alarm for {when}",
            "change (my|the) alarm to {when}", "change (my|the) alarm to {time} {onday}", "set my alarm back to {time}", "put my alarm to {time}", "put my alarm at {time} {onday}", "move my alarm to {time}",
            "my alarm should be on {at}", "the alarm should be {at}", "i want the alarm on {at}", "i want to have an alarm {at}", "i want alarm {at}", "i want one alarm {at}", "i need alarm for {when}", "need alarm {at}",
            "wanna get up {at}", "wanna wake up {at}", "i wanna be up {at}", "i wanna get up {at} set an alarm", "i'd like my alarm to go off {at}", "i would like to be up {at}", "i would like to get up {at}",
            "i am getting up {at} set an alarm", "i have got to get up {at}", "let me sleep till {time} {onday}", "let me sleep till {time} then wake me", "let it ring {at}", "let it go off {at}",
            "have it ring {at}", "have it go off {at}", "buzz me awake {at}", "alarm at {time} sharp", "alarm at {time} on the dot", "alarm for {time} sharp {onday}"],
        held=["get an alarm going for {when}", "have me up {at}", "would an alarm {at} be possible", "i'd like the alarm to wake me {at}", "have the alarm on {at}", "fix me an alarm {at}", "i don't want to sleep past {time}",
            "see that i'm awake {at}", "i want to be out of bed {at}", "kick off {aclk} alarm",
              "have the alarm sound {at}", "my wake up time is {time}", "i should be woken {at}", "ring me out of bed {at}"],
        slots=SLOTS, call=alarm_call, say=say_set),
    Intent(
        "clock.set.named", weight=1.2,
        patterns=[
            "set (a|my|the) {event} alarm (for|to) {when}", "set (a|my|the) {event} alarm {at}", "(set|make|create|add) (an|another) alarm (called|named|labeled|with the name|with the label) {event} (for|at) {time}",
            "{event} {when} alarm", "{event} alarm for {day} at {time}", "{event} alarm {onday} at {time}", "{day} {event} alarm {time}", "alarm {at} for {event}", "alarm {at} {event}", "alarm {when} {event}",
            "alarm {time} called {event}", "alarm called {event} for {when}", "set [an] alarm for {event} {at}", "set [an] alarm for {when} for {event}", "set [an] alarm {at} for {event}", "set [an] alarm {at} called {event}",
            "set {event} alarm [for] {when}", "set {event} alarm {at}", "wake me [up] for {event} {at}", "wake us [up] for (my|the|our) {event} {at}", "get me up for (my|the) {event} {at}", "an alarm for (my|the) {event} {at}",
            "alarm to {task} {when}",
            "(set|make|create|add) an alarm (called|named|labeled) {event} {at}",
            "(set|make|create|add|i need|i want|give me) an alarm for (my|the) {event} {at}", "(set|make|create|add|i need|i want) an alarm for {event} {at}",
            "(set|make|create|add) an alarm {at} (called|named|labeled|for my|for the|and call it|and name it) {event}", "set an alarm for {when} (called|named|labeled|and call it|and name it) {event}", "set an alarm for {when} for (my|the) {event}",
            "{event} alarm {when}", "{event} alarm for {when}", "{event} alarm {at}", "alarm for {event} {at}", "alarm for my {event} {at}", "alarm {when} for (my|the) {event}", "alarm called {event} {at}", "an alarm that says {event} for {when}",
            "a {event} alarm {at}", "my {event} alarm should be {at}", "put an alarm on for {event} {at}", "i need a {event} alarm {at}", "i want a {event} alarm {at}", "give me a {event} alarm {at}",
            "wake me [up] for (my|the) {event} {at}", "wake me [up] {at} for (my|the) {event}", "wake me [up] {at} for {event}", "get me up for {event} {at}", "i have to get up for {event} {at}", "set an alarm to {task} {at}",
            "set an alarm {at} to {task}", "set an alarm for {when} to {task}", "alarm to {task} {at}", "alarm {at} to {task}", "make an alarm to {task} {at}",
            "i need an alarm to {task} {at}", "i need an alarm {at} to {task}", "set an alarm so i can {task} {at}", "set an alarm so that i {task} {at}", "add an alarm to {task} {at}", "create an alarm {at} to {task}", "ring {at} so i can {task}",
            "wake me up {at} to {task}", "wake me {at} so i can {task}", "get me up {at} to {task}", "wake me up {at} because i have to {task}",
            "set my {event} alarm for {day} at {time}", "set a daily {event} alarm for {time} => dayname=daily", "daily alarm for {event} at {time} => dayname=daily", "set an alarm every day at {time} for {event} => dayname=daily",
            "set a weekday {event} alarm for {time} => dayname=weekdays", "name an alarm {event} and set it for {when}", "alarm {event} {when}", "alarm for {time} named {event}",
            "i've got {event} {onday} set an alarm for it at {time}", "i have to be at {event} set an alarm {at} for it", "(pop|stick|bung|chuck|throw) on a {event} alarm for {when}",
            "(pop|stick|bung|chuck) an alarm on for (my|the) {event} {at}", "put a {event} alarm on for {when}", "put an alarm on {at} for (my|the) {event}", "need an alarm for (my|the) {event} {at}", "need a {event} alarm {at}",
            "i would like an alarm for (my|the) {event} {at}", "make me a {event} alarm for {when}", "make a {event} alarm for {when}", "create a {event} alarm {at}", "create a {event} alarm for {when}", "add a {event} alarm {at}",
            "add a {event} alarm for {when}", "new {event} alarm {at}", "new alarm for {when} called {event}", "new alarm {at} named {event}", "alarm for {when} for (my|the) {event}", "alarm for {when} name {event}",
            "alarm with the name {event} {at}", "alarm labeled {event} {at}", "alarm {at} labeled {event}", "alarm for {when} labeled {event}", "alarm so i can {task} {at}", "alarm {at} so i can {task}", "alarm {at} {task}",
            "set an alarm {at} labeled {event}", "set an alarm {at} with the label {event}", "set an alarm {at} and label it {event}", "set an alarm {at} name it {event}", "set an alarm {at} it's for (my|the) {event}",
            "set an alarm so i don't miss (my|the) {event} {at}", "set an alarm so i don't forget to {task} {at}", "set an alarm to remind me to {task} {at}", "set an alarm to remind me about (my|the) {event} {at}",
            "set me an alarm to {task} {at}", "set me an alarm {at} to {task}", "need an alarm to {task} {at}", "ring {at} to remind me to {task}", "beep {at} so i {task}", "beep {at} to {task}", "go off {at} so i remember to {task}",
            "make an alarm {at} for {event}", "make it ring {at} for (my|the) {event}", "keep an alarm for {event} {at}", "keep an alarm to {task} {at}", "have an alarm {at} to {task}", "wake me {at} i have to {task}",
            "wake me {at} i need to {task}", "wake me [up] {at} i've got to {task}", "get me up {at} i have to {task}", "get me up {at} so i can {task}", "don't let me oversleep (my|the) {event} alarm {at}",
            "{event} wake up alarm {at}", "{event} wake up call {at}"],
        held=["have a {event} alarm go off {at}", "the {event} alarm has to ring {at}", "get an alarm going {at} so i can {task}", "make me an alarm that says {event} for {when}", "i'd like an alarm {at} with the name {event}"],
        slots=SLOTS, call=lambda v: ("set_alarm", alarm(v, "event", "task")), say=say_set),
    Intent(
        "clock.remind", weight=3.2,
        patterns=[
            "remind me to {task} {at}", "remind me to {task} {at}", "remind me to {task} {at}", "remind me {at} to {task}", "remind me {at} to {task}", "remind me {onday} to {task} at {time}", "remind me {onday} at {time} to {task}",
            "{at} {task} reminder", "{at} remind me about (my|the) {event}", "{at} remind me (about|of) {occ}", "remind me (about|of) {occ} {at}", "remind me {at} (about|of) {occ}", "reminder {occ} {when}", "{occ} reminder {at}",
            "{occ} {at} remind me", "reminder {event} {when}", "reminder {event} {at}", "reminder {task} {when}", "reminder {when} to {task}", "reminder for {event} {when}", "remind me {event} {at}", "remind me {event} {when}",
            "remind me {task} {when}", "remind me {when} about (my|the) {event}", "remind me {when} to {task}", "{event} {at} remind me", "{event} {when} remind me", "{task} {when} remind me", "{task} {when} reminder",
            "{event} {when} reminder", "remind me (about|of) the {thing} {at}", "remind me {at} (about|of) the {thing}", "don't let me forget (the|my) {thing} {at}", "don't let me forget {occ} {at}", "don't forget to {task} {at}",
            "i've got {event} {at} remind me", "i have {event} {at} [so] remind me", "i've got {occ} {at} remind me", "(put|stick|pop|chuck|bung) a reminder (on|in) to {task} {at}",
            "(put|stick|pop|chuck|bung) a reminder (on|in) for (my|the) {event} {at}", "(stick|pop|chuck) in a reminder {at} to {task}", "give (me|us) a (nudge|shout|poke|prod|reminder|ping|heads up) {at} to {task}",
            "give me a (nudge|shout|poke|prod|ping|heads up) {at} about (my|the) {event}", "(prod|bug|pester|nag|hassle|jog|holler at|shout at) me {at} to {task}", "(prod|bug|pester|nag|hassle|shout at) me to {task} {at}",
            "nudge me {at} about (my|the) {event}", "i would like a reminder to {task} {at}", "i would like to be reminded to {task} {at}", "i have to {task} {at} don't let me forget", "i need to {task} {at} don't let me forget",
            "i have to {task} {at} set a reminder", "i need to {task} {at} set a reminder",
            "remind me to {task} {onday} at {time}", "{at} remind me to {task}", "remind me to {task} (by|before|around|about) {time}",
            "remind me that i (have|need) to {task} {at}", "remind me {at} that i (have|need) to {task}", "remind me i (have|need) to {task} {at}", "remind me {at} i need to {task}", "remind me that i must {task} {at}",
            "remind me that i should {task} {at}", "remind me that we have to {task} {at}", "remind us to {task} {at}", "remind us {at} to {task}",
            "(set|make|create|add|put in|schedule|i need|i want|give me|i'd like|leave me|write) a reminder to {task} {at}", "(set|make|create|add|put in|schedule|i need|i want|give me) a reminder {at} to {task}",
            "(set|make|create|add|schedule) a reminder for {when} to {task}", "set reminder to {task} {at}", "set reminder {at} to {task}", "reminder to {task} {at}", "reminder {at} to {task}", "reminder {task} {at}",
            "reminder {when} {task}", "reminder for {when} {task}", "{task} reminder {at}", "{task} reminder for {when}", "{task} {at} reminder", "{task} {at} remind me", "new reminder {task} {at}", "new reminder to {task} {at}",
            "a reminder to {task} {at}", "set {aclk} reminder to {task}", "{aclk} reminder to {task}",
            "don't let me forget to {task} {at}", "don't let me forget {at} to {task}", "don't forget to remind me to {task} {at}", "do not let me forget to {task} {at}", "make sure i {task} {at}", "make sure i don't forget to {task} {at}",
            "make sure that i {task} {at}", "make sure to remind me {at} to {task}", "see that i {task} {at}", "help me remember to {task} {at}", "help me to remember to {task} {at}", "i want to remember to {task} {at}",
            "i must not forget to {task} {at}", "i can't forget to {task} {at}", "i don't want to forget to {task} {at}", "i shouldn't forget to {task} {at}", "i always forget to {task} remind me {at}", "i keep forgetting to {task} remind me {at}",
            "i'll forget to {task} so remind me {at}", "i need to remember to {task} {at}", "i have to remember to {task} {at}", "i've got to remember to {task} {at}",
            "i need to {task} {at} remind me", "i have to {task} {at} remind me", "i have to {task} {at} so remind me", "i need to be reminded to {task} {at}", "i want to be reminded to {task} {at}", "i'd like to be reminded {at} to {task}",
            "i should {task} {at} please remind me", "we have to {task} {at} remind me", "i gotta {task} {at} remind me", "i wanted to {task} {at} remind me",
            "(tell|ask|alert|ping|nudge|notify|buzz|warn|prompt|poke|order) me to {task} {at}", "(tell|alert|ping|nudge|notify|poke) me {at} to {task}", "{at} tell me to {task}", "{at} i need to {task} remind me",
            "let me know {at} that i have to {task}", "let me know when it's {time} so i can {task}", "let me know {at} to {task}", "tell me when it's {time} so i can {task}", "give me a reminder {at} to {task}", "give me a nudge {at} to {task}",
            "give me a shout {at} to {task}",
            "when it's {time} remind me to {task}", "when it's {time} tell me to {task}", "once it's {time} remind me to {task}", "as soon as it's {time} remind me to {task}", "put {task} in my reminders for {when}", "put {task} down for {when}",
            "add {task} to my reminders for {when}", "note for {when} {task}", "remind {task} {at}", "remind me {task} {at}", "remind me {at} {task}", "remind me {when} {task}", "remember {at} to {task}", "remember to {task} {at}",
            "please remember that i have to {task} {at}", "schedule {task} for {when}", "schedule {task} {at}", "set {task} for {when}", "can i get a reminder {at} to {task}", "could i have a reminder to {task} {at}",
            "can i have a reminder to {task} {at}", "how about a reminder to {task} {at}", "is it possible to be reminded to {task} {at}", "will you remember to tell me to {task} {at}", "do you think you could remind me to {task} {at}",
            "remind me every day at {time} to {task} => dayname=daily", "remind me daily at {time} to {task} => dayname=daily", "daily reminder at {time} to {task} => dayname=daily", "set a daily reminder to {task} at {time} => dayname=daily",
            "every day at {time} remind me to {task} => dayname=daily", "every day at {time} tell me to {task} => dayname=daily", "i have to {task} every day at {time} remind me => dayname=daily",
            # things rather than deeds
            "remind me (about|of) (my|the) {event} {at}", "remind me {at} (about|of) (my|the) {event}", "remind me about {event} {at}", "set a reminder for (my|the) {event} {at}", "set a {event} reminder (for|at) {time}",
            "set a {event} reminder {at}", "(make|create|add) a reminder for (my|the) {event} {at}", "(make|create|add) a {event} reminder for {when}", "{event} reminder {at}", "{event} reminder for {when}",
            "reminder (about|for|of) (my|the) {event} {at}", "reminder for {when} {event}", "remind me {at} about {event}", "remind me (i have|that i have|i've got) (a|my|the) {event} {at}", "remind me that (my|the) {event} is {at}",
            "remind me that (my|the) {event} starts {at}", "i have (a|my|the) {event} {at} remind me", "i've got (a|my|the) {event} {at} remind me [of it]", "my {event} is {at} remind me", "the {event} is {at} remind me",
            "the {event} starts {at} remind me", "there's a {event} {at} remind me", "don't let me forget (my|the) {event} {at}", "don't let me miss (my|the) {event} {at}", "i can't miss my {event} {at}", "i keep missing my {event} remind me {at}",
            "i don't want to miss (my|the) {event} {at}", "make sure i don't miss (my|the) {event} {at}", "make sure i don't forget (my|the) {event} {at}", "tell me about (my|the) {event} {at}", "alert me (to|about) (my|the) {event} {at}",
            "notify me {at} about (my|the) {event}",
            "warn me about (my|the) {event} {at}", "nudge me about the {event} {at}", "i need a reminder for (my|the) {event} {at}", "i need a {event} reminder {at}", "remind me of the {event} {onday} at {time}",
            "{onday} at {time} remind me about (my|the) {event}", "remind us about the {event} {at}", "we have a {event} {at} remind us", "put a reminder in for (my|the) {event} {at}",
            "{occ} is {at} remind me", "{occ} is {at} don't let me forget", "{event} {at} don't let me forget", "the {event} is {at} don't let me forget", "my {event} is {at} don't let me miss it", "i've a {event} {at} remind me",
            "i've got to {task} {at} remind me", "i've to {task} {at} remind me", "i gotta {task} {at} set a reminder", "i must {task} {at} set a reminder", "i must {task} {at} remind me", "i mustn't forget to {task} {at}",
            "i mustn't forget (my|the) {event} {at}", "i mustn't forget {occ} {at}", "i mustn't forget the {thing} {at}", "i can't forget {occ} {at}", "i don't want to forget {occ} {at}", "i always forget the {thing} remind me {at}",
            "i keep forgetting the {thing} remind me {at}", "i'm bad at remembering remind me to {task} {at}", "i've got a memory like a sieve remind me to {task} {at}", "can't forget to {task} {at}",
            "can't forget (my|the) {event} {at}", "must {task} {at} remind me", "must remember to {task} {at}", "got to {task} {at} remind me", "have to {task} {at} remind me", "need to {task} {at} remind me",
            "need to remember to {task} {at}", "need a reminder to {task} {at}", "need a reminder {at} to {task}", "need reminding to {task} {at}", "i need reminding to {task} {at}", "i need reminding {at} to {task}",
            "i'll need a reminder to {task} {at}", "remind to {task} {at}", "remember me to {task} {at}", "remember me {at} to {task}", "remember that i have to {task} {at}", "remember to remind me to {task} {at}",
            "make me remember to {task} {at}", "make me {task} {at}", "jog my memory {at} to {task}", "let me remember to {task} {at}", "let me know to {task} {at}", "let me know about (my|the) {event} {at}",
            "let me know about {occ} {at}", "let me know {at} about (my|the) {event}", "message me {at} to {task}", "shout {at} so i {task}", "shout {at} so i don't forget to {task}", "beep me {at} to {task}",
            "keep a reminder to {task} {at}", "keep a reminder {at} to {task}", "keep reminder for {event} {at}", "put reminder {at} to {task}", "put reminder to {task} {at}", "put a reminder {at} to {task}",
            "put a reminder for {when} to {task}", "make reminder to {task} {at}", "make reminder {at} {task}", "make me a reminder to {task} {at}", "do a reminder to {task} {at}", "do me a reminder {at} to {task}",
            "add reminder to {task} {at}", "add reminder {task} {at}", "add a reminder {at} {task}", "create reminder {task} {at}", "create a reminder for {when} to {task}", "set me a reminder to {task} {at}",
            "set me a reminder {at} to {task}", "set me a reminder for (my|the) {event} {at}", "set a reminder {at} for (my|the) {event}", "set a reminder {at} about (my|the) {event}", "set a reminder for {occ} {at}",
            "set a reminder about {occ} {at}", "set a reminder {task} {at}", "set a reminder for {when} {task}", "set reminder {when} {task}", "set reminder for {event} {at}", "set reminder {event} {at}",
            "could you remind me that {occ} is {at}", "remind me that {occ} is {at}", "remind me it's {occ} {at}", "remind me i've got to {task} {at}", "remind me i must {task} {at}", "remind me we have to {task} {at}",
            "remind me we've got {event} {at}", "remind me i've got {event} {at}", "remind me i've got {occ} {at}", "remind me there's a {event} {at}", "remind me for (my|the) {event} {at}", "remind me for {event} {at}",
            "remind me again {at} to {task}", "remind me at exactly {time} to {task}", "remind me at {time} sharp to {task}", "remind me not later than {time} to {task}", "remind me {onday} to {task} at {time} sharp",
            "it's {occ} {at} remind me", "it's {occ} {at} don't let me forget", "we've got {occ} {at} remind me", "so i don't forget remind me {at} to {task}", "before i forget remind me to {task} {at}",
            "oh and remind me to {task} {at}", "note to self {task} {at}", "note to self {event} {at}", "have me {task} {at}", "have me reminded to {task} {at}", "tell me {at} that i have to {task}",
            "tell me {at} that i need to {task}", "tell me {at} to {task}", "tell me to {task} when it's {time}", "it has to be {time} when you remind me to {task}", "{at} i have to {task} remind me",
            "{at} i've got to {task} remind me", "{at} i have (a|my|the) {event} remind me", "{at} i've got {event} remind me", "{at} don't let me forget to {task}", "{at} make sure i {task}", "{at} ask me to {task}",
            "{at} ping me to {task}", "{at} alert me to {task}", "{onday} remind me to {task} at {time}", "{onday} remind me about (my|the) {event} at {time}", "{onday} at {time} i need to {task} remind me",
            "for {when} a reminder to {task}", "for {when} remind me to {task}"],
        held=["call on me {at} to {task}", "keep me from forgetting to {task} {at}", "have a reminder come {at} to {task}", "i could use a reminder {at} to {task}", "{at} it's time to {task} so remind me",
            "would you let me know that it's time to {task} {at}", "please have me {task} {at} with a reminder", "get me to {task} {at}",
              "give me a heads up {at} to {task}", "i'm supposed to {task} {at} don't let me forget", "so that i don't forget to {task} remind me {at}", "i'm supposed to be at the {event} {at} remind me", "keep me from missing my {event} {at}",
              "get a reminder going for the {event} {at}"],
        slots=SLOTS, call=lambda v: ("set_alarm", alarm(v, "task", "event", "occ", "thing")), say=say_set),
    Intent(
        "clock.remind.timer", weight=1.2,
        patterns=[
            "remind me to {ttask} in {dur}", "remind me to {ttask} in {dur}", "remind me in {dur} to {ttask}", "remind me in {dur} to {ttask}", "in {dur} remind me to {ttask}", "after {dur} remind me to {ttask}", "remind me after {dur} to {ttask}",
            "(poke|prod|nudge|buzz|ping|shout at|remind|alert) me in {dur} so i [can] {ttask}", "(poke|prod|bug|shout at|holler at) me in {dur} to {ttask}", "(poke|prod|nudge|bug) me to {ttask} in {dur}",
            "give (me|us) a (nudge|poke|prod|shout|ping|buzz|heads up) in {dur} to {ttask}", "give me a (nudge|poke|shout|ping) in {dur} so i (can|don't forget to) {ttask}", "{dur} from now remind me to {ttask}",
            "(when|once) {dur} (are up|have passed|is up|has passed) remind me to {ttask}", "(when|once) {dur} (are up|is up) tell me to {ttask}", "{ttask} reminder in {dur}", "{ttask} reminder {dur}", "{ttask} timer {dur}",
            "reminder {dur} {ttask}", "timer {dur} to {ttask}", "remind me {ttask} {dur} from now", "remind me in {dur} i have to {ttask}", "remind me in {dur} so i [can] {ttask}", "tell me in {dur} to {ttask}",
            "i'll {ttask} in {dur} remind me",
            "remind me {dur} from now to {ttask}", "remind me to {ttask} {dur} from now", "remind us to {ttask} in {dur}", "remind us in {dur} to {ttask}",
            "remind me that i (have|need) to {ttask} in {dur}", "remind me in {dur} that i (have|need) to {ttask}", "remind me in {dur} i need to {ttask}", "(set|make|create|add|i need|give me|i want) a reminder to {ttask} in {dur}",
            "(set|make|create|add|i need|give me) a reminder in {dur} to {ttask}", "set a reminder for {dur} from now to {ttask}", "reminder in {dur} {ttask}", "reminder in {dur} to {ttask}", "reminder to {ttask} in {dur}", "reminder {ttask} in {dur}",
            "(tell|alert|nudge|ping|notify|buzz) me to {ttask} in {dur}", "(tell|alert|nudge|ping) me in {dur} to {ttask}", "in {dur} tell me to {ttask}", "in {dur} i need to {ttask} remind me", "in {dur} i have to {ttask}",
            "i have to {ttask} in {dur} remind me", "i need to {ttask} in {dur} remind me", "i need to {ttask} in {dur}", "i should {ttask} in {dur} remind me", "i must {ttask} in {dur} set a timer",
            "don't let me forget to {ttask} in {dur}", "make sure i {ttask} in {dur}", "let me know in {dur} that i have to {ttask}", "let me know in {dur} to {ttask}", "set a timer to {ttask} in {dur}", "set a timer for {dur} to {ttask}",
            "set a timer for {dur} to remind me to {ttask}", "timer for {dur} to {ttask}", "set a {dur} timer to {ttask}", "start a timer for {dur} so i can {ttask}",
            "i want to {ttask} in {dur} remind me", "remind me {ttask} in {dur}", "remind me in {dur} {ttask}", "{ttask} in {dur} remind me", "could i have a reminder in {dur} to {ttask}", "give me a shout in {dur} to {ttask}",
            "give me {dur} and then tell me to {ttask}", "wake me in {dur} to {ttask}", "wake me up in {dur} so i can {ttask}", "help me remember to {ttask} in {dur}",
            "i have to {ttask} in {dur} set a timer", "i have to {ttask} in {dur} don't let me forget", "i've got to {ttask} in {dur} remind me", "i gotta {ttask} in {dur} remind me", "i've to {ttask} in {dur} remind me",
            "need to {ttask} in {dur} remind me", "got to {ttask} in {dur} remind me", "must {ttask} in {dur} remind me", "must remember to {ttask} in {dur}", "i need to remember to {ttask} in {dur}",
            "i mustn't forget to {ttask} in {dur}", "i can't forget to {ttask} in {dur}", "i'm supposed to {ttask} in {dur} remind me", "we have to {ttask} in {dur} remind us", "i would like a reminder to {ttask} in {dur}",
            "need a reminder to {ttask} in {dur}", "need a reminder in {dur} to {ttask}", "put a reminder on in {dur} to {ttask}", "(stick|pop|chuck) a reminder in to {ttask} in {dur}",
            "(stick|pop|put) a timer on for {dur} so i (can|don't forget to) {ttask}", "(stick|pop|put) a timer on for {dur} to {ttask}", "set a timer for {dur} so i {ttask}",
            "set a timer for {dur} so i (can|don't forget to|remember to) {ttask}", "set a timer so i (can|don't forget to|remember to) {ttask} in {dur}", "set a {adj} timer so i (can|don't forget to) {ttask}",
            "set me a timer for {dur} to {ttask}", "start a {adj} timer to {ttask}", "start a timer for {dur} to {ttask}", "give me {dur} to {ttask}", "give me {dur} then (remind me|tell me) to {ttask}",
            "let me know in {dur} so i can {ttask}", "let me know when it's time to {ttask} in {dur}", "warn me in {dur} so i can {ttask}", "shout in {dur} so i can {ttask}", "beep in {dur} so i can {ttask}",
            "beep in {dur} so i {ttask}", "ring in {dur} so i can {ttask}", "ask me in {dur} to {ttask}", "ask me to {ttask} in {dur}", "make sure to remind me to {ttask} in {dur}", "remember me to {ttask} in {dur}",
            "remember to tell me to {ttask} in {dur}", "remind to {ttask} in {dur}", "remind me that it's time to {ttask} in {dur}", "remind me to {ttask} after {dur}", "after {dur} tell me to {ttask}",
            "after {dur} i need to {ttask} remind me", "in {dur} make sure i {ttask}", "in {dur} don't let me forget to {ttask}", "in {dur} i've got to {ttask} remind me", "in {dur} give me a shout to {ttask}",
            "in {dur} ping me to {ttask}", "in {dur} let me know to {ttask}", "keep a reminder to {ttask} after {dur}", "keep a timer for {dur} to {ttask}", "before i forget remind me to {ttask} in {dur}",
            "i always forget remind me to {ttask} in {dur}", "can't forget to {ttask} in {dur}"],
        held=["call on me in {dur} to {ttask}", "once {dur} have passed remind me to {ttask}", "it's time to {ttask} in {dur} let me know", "get me to {ttask} in {dur}", "keep me from forgetting to {ttask} in {dur}"],
        slots=SLOTS, call=lambda v: ("set_timer", {**length(v), "name": v["ttask"]}), say=lambda g, v, args, result: f"Reminder set for {spoken_duration(args)} from now: {args['name']}."),
    Intent(
        "clock.alarm.timer", weight=0.35,  # an alarm after a while is a timer
        patterns=["set an alarm (in|for|to ring in) {dur} from now", "set an alarm in {dur}", "set an alarm for {dur}", "alarm in {dur}", "alarm {dur} from now", "ring the alarm in {dur}", "sound an alarm in {dur}", "an alarm in {dur}",
            "in {dur} wake me [up]", "alarm for {dur}", "alarm for {dur} from now", "set a {adj} alarm", "{adj} alarm", "(i'm|i am) (taking|having) a nap wake me [up] in {dur}", "(i'm|i am) (taking|having) a {adj} nap",
            "i'm going to (lie down|nap|sleep|have a kip|close my eyes) for {dur} wake me [up]", "i'm (lying down|napping|sleeping) for {dur} wake me then", "nap for {dur}", "{adj} nap", "{adj} power nap", "power nap {dur}",
            "let me (kip|snooze on the couch|doze|lie down|rest) for {dur}",
            "make an alarm go off in {dur}", "i need an alarm in {dur}", "let the alarm ring in {dur}", "set my alarm for {dur} from now", "give me an alarm in {dur}",
                  "in {dur} sound the alarm", "i'm taking a nap wake me in {dur}", "i'll sleep for {dur} wake me then", "get me up in {dur}", "let me sleep for {dur}", "let me nap for {dur}", "let me sleep {dur}",
                  "don't let me sleep longer than {dur}", "set alarm in {dur}", "wake me {dur} from now", "wake us in {dur}",
            "i'm off for a (nap|kip|lie down) wake me in {dur}", "i'm shutting my eyes for {dur} wake me", "i need a {adj} nap", "i want a {adj} nap wake me then", "i want to sleep for {dur}", "i'd like to nap for {dur}",
            "i'm gonna crash for {dur} wake me up", "gonna nap for {dur} wake me", "wake me up {dur} from now", "wake me after {dur}", "wake me up once {dur} have passed", "wake me up when {dur} are up",
            "don't let me nap longer than {dur}", "don't let me nap for more than {dur}", "don't let me sleep more than {dur}", "don't let me sleep for more than {dur}", "make sure i'm up in {dur}", "get me up after {dur}",
            "get me up {dur} from now", "i need to be up in {dur}", "i have to be up in {dur}", "i have to get up in {dur}", "i've got to be up in {dur}", "give me an alarm {dur} from now", "put an alarm on in {dur}",
            "pop an alarm on for {dur}", "stick an alarm on in {dur}", "need an alarm in {dur}", "make an alarm in {dur}", "alarm after {dur}", "put alarm after {dur}", "set alarm for {dur} from now", "set an alarm {dur} from now",
            "set an alarm to go off in {dur}", "the alarm should go off in {dur}", "i want an alarm in {dur}"],
        held=["get an alarm going in {dur}", "have the alarm ring in {dur}", "i want to be up again in {dur}"],
        slots=SLOTS, call=lambda v: ("set_timer", length(v)), say=lambda g, v, args, result: f"Timer set for {spoken_duration(args)}."),
    Intent(
        "clock.cancel", weight=1.8,
        patterns=[
            "(cancel|delete|stop|remove|turn off|kill|clear|end|drop|disable|switch off|shut off|deactivate|get rid of|forget|dismiss|erase) (the|my|that|this) alarm", "(cancel|delete|stop|remove|turn off|end) alarm", "alarm off", "scrap my alarm",
            "(scrap|ditch|nix|bin|axe|lose|can|wipe|dump|chuck) (the|my|that) alarm", "(scrap|ditch|nix|bin|axe|kill|lose|wipe|dump|skip) (the|my|that) {clk} alarm", "(scrap|ditch|nix|bin|kill|skip|lose) (the|my) alarm for {day}",
            "(scrap|ditch|nix|kill|skip) (the|my) alarm {onday}", "(scrap|ditch|nix|bin|kill|skip|delete|cancel|drop) {dayof} alarm", "{clk} alarm (off|cancel|stop)", "{event} alarm (cancel|stop)", "alarm off {onday}",
            "alarm off {at}", "alarm (stop|cancel)", "{dayof} alarm off", "no alarm {onday} [after all] cancel it", "no alarm {onday} after all", "cancel alarm {onday}", "cancel alarm for {day}", "cancel alarm {at}",
            "(i'm|i am) off {onday} (scrap|cancel|kill|ditch|turn off) the alarm [for that day|that day]", "(i'm|i am) not working {onday} (scrap|cancel|kill|ditch|turn off) the alarm",
            "no (school|work) {onday} (cancel|scrap|turn off|ditch) the alarm", "no need to wake me {onday}", "no need to wake me {at}", "no need for (an|the|my) alarm {onday}",
            "(wipe|scrap|ditch|kill|nix|bin|axe|dump) (all|all my|all the|every) (alarms|alarm) => all=true", "(wipe|cancel|delete|kill|get rid of|scrap) every alarm (i've got|i have|i set|that's set|that's on) => all=true",
            "(get rid of|cancel|delete) the {clk} one {onday} the alarm i mean", "(get rid of|cancel|delete|drop) the {clk} one the alarm i mean", "all my alarms (off|can go) => all=true", "cancel alarms => all=true", "i'm up",
            "i'm up i'm up", "(okay|alright) i'm (up|awake)",
            "take the alarm away", "i won't be needing an alarm", "i'm sleeping without an alarm {onday}", "stop the alarm i'm up", "i'm awake turn off the alarm", "turn the alarm off", "turn my alarm off", "switch the alarm off",
            "shut the alarm up", "shut up the alarm", "make the alarm stop",
            "silence the alarm", "stop ringing", "stop the ringing", "i'm up stop the alarm", "i'm already up", "i'm awake stop ringing", "i'm already awake cancel the alarm", "no alarm please", "no alarm", "take the alarm off",
            "never mind the alarm", "forget about the alarm", "i don't need the alarm [anymore|any more|any longer]", "i don't need an alarm [anymore|any more]", "i won't need the alarm", "i don't want the alarm [anymore|any more]",
            "i don't want an alarm",
            "(cancel|delete|stop|remove|turn off|kill|clear|drop|disable|switch off|shut off|deactivate|get rid of|forget|erase) (the|my|that) {clk} alarm", "(cancel|delete|remove|turn off|stop|disable) {clk} alarm",
            "(cancel|delete|remove|turn off|kill|clear|drop|disable|switch off|forget|get rid of) (the|my) alarm (for|set for) {when}", "(cancel|delete|remove|turn off|disable|stop) (the|my) alarm {at}",
            "(cancel|delete|remove|turn off|disable) alarm (for|at) {time}", "alarm off for {when}", "no alarm {at}", "no {clk} alarm please", "i don't need the {clk} alarm [anymore|any more]", "i don't need the alarm {at} [anymore|any more]",
            "i don't need to (get up|wake up) {at} [anymore|any more] cancel the alarm", "turn the {clk} alarm off", "switch my {clk} alarm off", "never mind the {clk} alarm", "forget about the {clk} alarm", "take the {clk} alarm off",
            "don't wake me up {at}", "don't wake me {at}", "don't wake me up {onday}", "don't wake me {onday}", "don't ring {at}", "do not wake me {onday}", "(cancel|delete|remove|turn off|disable|drop) (the|my) {clk} alarm for {day}",
            "(cancel|delete|remove|turn off) (the|my) {clk} alarm {onday}",
            "(cancel|delete|remove|turn off|clear|disable|drop|kill) (the|my) alarm for {day}", "(cancel|delete|remove|turn off|clear|disable|drop) (the|my) alarm {onday}", "(cancel|delete|turn off|remove) tomorrow's alarm => dayname=tomorrow",
            "(cancel|delete|turn off|remove) tonight's alarm => dayname=tonight", "(cancel|delete|turn off|remove) today's alarm => dayname=today", "turn off my weekday alarm => dayname=weekdays", "cancel the weekend alarm => dayname=weekends",
            "(cancel|delete|turn off) my daily alarm => dayname=daily",
            "no alarm {onday}", "no alarm for {day}", "i don't need an alarm for {day}", "i don't need an alarm {onday}", "i'm sleeping in {onday} cancel the alarm", "i can sleep in {onday} cancel my alarm", "i'm off {onday} turn off the alarm",
            "let me sleep in {onday} no alarm", "i have the day off {onday} cancel the alarm", "i don't have to work {onday} turn the alarm off",
            "(cancel|delete|stop|remove|turn off|kill|clear|disable|switch off|drop|erase|wipe|get rid of) (all|all the|all my|every|all of my|all of the) (alarms|alarm) => all=true",
            "(cancel|delete|clear|turn off|remove|stop|disable) (my alarms|the alarms|all alarms|every alarm|every single alarm|every alarm i have) => all=true", "no more alarms => all=true", "no alarms please => all=true",
            "turn all alarms off => all=true", "turn my alarms off => all=true", "all alarms off => all=true", "alarms off => all=true", "reset my alarms => all=true", "i don't need any alarms => all=true",
            "i don't want any alarms [anymore] => all=true", "forget all my alarms => all=true", "clear all reminders => all=true", "(cancel|delete|remove|clear) all my reminders => all=true",
            "(cancel|delete|remove) (all|all the|all my) (alarms|reminders) for {day} => all=true", "(cancel|delete|clear|turn off) all (my|the) alarms {onday} => all=true", "no alarms {onday} => all=true", "no alarms at all {onday} => all=true",
            # by name
            "(cancel|delete|remove|turn off|stop|kill|disable|drop|switch off|get rid of|forget) (the|my) {event} alarm", "(cancel|delete|remove|turn off|stop) {event} alarm",
            "(cancel|delete|remove|turn off) the alarm (called|named|labeled|for my|for the) {event}", "(cancel|delete|remove|drop|forget) (the|my) {event} reminder", "(cancel|delete|remove) the reminder (about|for|of) (my|the) {event}",
            "no {event} alarm please", "{event} alarm off", "never mind the {event} alarm", "never mind the {event} reminder",
            "i don't need the {event} alarm [anymore]", "i don't need the {event} reminder [anymore]", "turn the {event} alarm off", "forget about the {event} alarm", "the {event} is cancelled delete the reminder",
            "(cancel|delete|remove|drop|forget) (the|my) reminder to {task}", "(cancel|delete|remove) (the|my) alarm to {task}", "(cancel|delete|remove) (the|my) {clk} reminder to {task}", "(cancel|delete|remove) (the|my) reminder to {task} {at}",
            "never mind the reminder to {task}",
            "i don't need the reminder to {task} [anymore]", "you don't need to remind me to {task} [anymore]", "you don't have to remind me to {task}", "no need to remind me to {task}", "don't remind me to {task}", "stop reminding me to {task}",
            "i don't need to be reminded to {task}", "(cancel|delete|remove) (the|my) {clk} reminder", "(cancel|delete|remove) (the|my) reminder (for|at) {time}", "(cancel|delete|remove) (the|my|that) reminder",
            "okay okay i'm up", "alright alright i'm awake", "enough already i'm up", "i'm up already", "i'm awake already", "i'm awake stop it", "i'm up turn it off", "i am awake turn off the alarm", "that's enough ringing",
            "shut up alarm", "quiet alarm", "be quiet i'm awake", "turn that thing off i'm awake", "turn off that awful alarm", "stop that noise i'm up", "stop that ringing", "make the ringing stop", "make it stop ringing",
            "kill that alarm", "cut the alarm", "no more alarm", "dismiss alarm", "don't bother waking me {onday}", "don't bother waking me {at}", "don't bother with the alarm {onday}",
            "don't wake me tomorrow after all => dayname=tomorrow", "forget waking me {onday}", "forget waking me {at}", "forget the alarm {onday}", "forget the alarm for {day}", "skip {dayof} wake up", "skip the {clk} alarm {onday}",
            "lose the alarm for {day}", "let me sleep {onday} no alarm", "let me sleep in {onday} cancel the alarm", "i want to sleep in {onday} cancel the alarm", "i want a lie in {onday} turn off the alarm",
            "i'm having a lie in {onday} cancel the alarm", "lie in {onday} no alarm", "i'm on holiday {onday} turn off the alarm", "i've got the day off {onday} cancel my alarm", "it's a holiday {onday} cancel the alarm",
            "i don't have to be up {onday} [anymore] cancel the alarm", "i don't have to get up {onday} cancel the alarm", "i don't have school {onday} turn off my alarm", "i don't need waking {onday}",
            "i don't need to be woken {onday}", "i don't need to be woken [up] {at} [anymore]", "i won't need the alarm {onday}", "i won't need waking {onday}", "i won't need an alarm {onday}", "i no longer need the alarm {onday}",
            "i no longer need the {clk} alarm", "i no longer need an alarm for {day}", "we don't need the alarm {onday}", "we don't need the {clk} alarm", "my flight was cancelled turn off the {clk} alarm",
            "my meeting was moved cancel the {clk} alarm", "plans changed cancel the {clk} alarm", "change of plan cancel the alarm {onday}", "change of plans cancel the {clk} alarm", "i set the wrong alarm cancel the {clk} one",
            "delete the alarm i set for {when}", "cancel the alarm i set for {when}", "cancel the alarm i made for {day}", "remove alarm {clk}", "remove alarm for {when}", "delete alarm {clk}", "delete alarm for {day}",
            "close the alarm", "close the {clk} alarm", "off the alarm", "off the {clk} alarm", "off my alarm {onday}", "undo the {clk} alarm", "undo the alarm for {day}", "unset the alarm", "unset my {clk} alarm",
            "take off the {clk} alarm", "take off my alarm for {day}", "the {clk} alarm can go", "the {clk} alarm isn't needed [anymore]", "the alarm {onday} can go", "the alarm for {day} can go", "the {event} alarm can go",
            "the {event} alarm isn't needed [anymore]", "(scrap|ditch|nix|bin|kill|lose) (the|my) {event} alarm", "(scrap|ditch|nix|bin) (the|my) {event} reminder", "(scrap|ditch|nix|forget) (the|my) reminder to {task}",
            "cancel {event} reminder", "cancel reminder to {task}", "delete reminder to {task}", "i already did it forget the reminder to {task}", "i've done it already no need to remind me to {task}",
            "no need for the reminder to {task} [anymore]", "no need to remind me about (my|the) {event} [anymore]", "don't remind me about (my|the) {event} [anymore]", "you don't need to remind me about (my|the) {event}",
            "you can forget the reminder to {task}", "you can cancel the {event} reminder", "you can cancel the {clk} alarm", "you can turn off the alarm {onday}", "you can turn off the {clk} alarm",
            "cancel my reminder (for|about) (my|the) {event}", "cancel the reminder {at}", "cancel the reminder for {when}", "cancel both alarms => all=true", "cancel both [of] my alarms => all=true",
            "turn off both alarms => all=true", "turn off every alarm => all=true", "switch all [the|my] alarms off => all=true", "shut off all [the|my] alarms => all=true", "alarms all off => all=true",
            "get rid of the whole lot of alarms => all=true", "get rid of all (my|the) reminders => all=true", "scrap all my reminders => all=true", "wipe my alarms => all=true", "no alarms anymore => all=true",
            "i don't need alarms [anymore] => all=true", "i'm on vacation turn off all alarms => all=true", "i'm on holiday cancel all my alarms => all=true", "school's out cancel all my alarms => all=true",
            "cancel all alarms {onday} => all=true", "cancel all alarms for {day} => all=true", "all alarms off {onday} => all=true", "scrap all (my|the) alarms {onday} => all=true"],
        held=["scrap the {clk} alarm", "call off the alarm for {day}", "i want the {clk} alarm gone", "scrap all alarms => all=true", "take away all my alarms => all=true", "i no longer need the {event} alarm", "i no longer need to be woken {at}",
            "i want to sleep {onday} without an alarm", "let go of the {event} alarm", "the alarm won't be needed {onday}", "call off the reminder to {task}", "have the alarm shut up"],
        slots=SLOTS, call=lambda v: ("cancel_alarm", {**alarm(v, "event", "task"), **arguments(v, "all")}), result=cancelled, say=say_cancel),
    Intent(
        "clock.alarms", weight=1.4,
        patterns=[
            "what alarms do i have [set]", "what alarms (are|have i) (set|got)", "which alarms (are on|are set|are active|do i have)", "(show|list|read|tell|check|give) me (my|the|all|all my) alarms",
            "did i set an alarm {onday}", "did i set (my|the) alarm {onday}", "have i got an alarm (on|set) [for {day}]", "have i got any alarms [on|set] [{onday}]", "got any alarms [{onday}]", "any alarm {onday}",
            "what alarms have i got [on|set] [{onday}]", "am i being woken [up] {onday}", "am i getting woken up {onday}", "(are you waking|will you be waking|are you going to wake) me [up] {onday}", "will you wake me [up] {onday}",
            "will (my|the) alarm go off {onday}", "is my alarm going off {onday}", "when is (my|the) alarm going off", "when's (my|the) alarm [going off|set for] [{onday}]", "what time's (my|the) alarm [set for] [{onday}]",
            "what time (did|have) i set (my|the) alarm for", "what's my alarm [time]", "what is my alarm", "which alarms are on", "which alarms have i got [set|on] [for {day}]", "show alarms {onday}", "show alarms for {day}",
            "list alarms for {day}", "{day} alarms", "my alarms {onday}", "my alarms for {day}", "what's {dayof} alarm", "when's {dayof} alarm", "did i remember to set (my|an|the) alarm [{onday}]",
            "(show|list|check|read|read out|read back) (my|the|all|all my|all the) alarms", "list alarms", "show alarms", "let me hear my alarms", "let me hear the alarms for {day}", "is anything set for {day}",
            "do i have anything set to wake me {onday}", "my alarms", "all alarms", "any alarms", "alarms", "what are my alarms", "do i have (any alarms|an alarm|alarms) [set|on]", "have i (set|got) (an alarm|any alarms)",
            "is (there an alarm|my alarm|the alarm|an alarm) (set|on)", "are (there any alarms|any alarms|my alarms) (set|on)", "is my alarm on", "did i set (an|my|the) alarm", "did i set any alarms", "did you set my alarm",
            "what time is my alarm [set for]", "what time is the alarm set for", "what's my alarm set (for|to)", "when is my alarm", "when is my next alarm", "what's my next alarm", "what is the next alarm", "next alarm",
            "when does (my|the) alarm (ring|go off)", "when will (my|the|the next) alarm (ring|go off)",
            "when will you wake me [up]", "when are you waking me [up]", "what time will you wake me", "what time are you going to wake me", "when do i have to get up", "when do i need to wake up", "when am i getting up", "what time do i get up",
            "at what time does my alarm ring", "how many alarms do i have [set]", "how many alarms are on", "tell me about my alarms", "alarm status", "status of my alarms", "check if my alarm is set", "check if there is an alarm",
            "check whether i set an alarm", "make sure my alarm is on",
            "what reminders do i have", "what are my reminders", "list my reminders", "read my reminders", "show me my reminders", "do i have any reminders", "any reminders", "what are you going to remind me of", "what should you remind me of",
            "is there an alarm for {time}", "do i have an alarm (for|at) {time}", "did i set an alarm for {time}", "did i set the {clk} alarm",
            "what alarms do i have for {day}", "what alarms do i have {onday}", "what alarms are set for {day}", "which alarms are set for {day}", "what alarms are on for {day}", "which alarms do i have for {day}",
            "(show|list|read|check) [me] (my|the|all) alarms for {day}", "(show|list|read|check) my alarms {onday}", "alarms for {day}", "alarms {onday}", "any alarms {onday}", "any alarms for {day}", "what are my alarms for {day}",
            "do i have (any alarms|an alarm|alarms) (set for|for) {day}", "do i have an alarm {onday}",
            "have i set an alarm for {day}", "have i got an alarm {onday}", "is (there an alarm|my alarm|the alarm|an alarm) set for {day}", "is there an alarm {onday}", "is my alarm on for {day}", "are there any alarms {onday}",
            "did i set (an|my|the) alarm for {day}", "what time is my alarm {onday}", "what time is my alarm set for {onday}", "what's my alarm for {day}", "when is my alarm {onday}", "when does my alarm (ring|go off) {onday}",
            "when will the alarm go off {onday}",
            "when will you wake me {onday}", "what time are you waking me {onday}", "when do i have to get up {onday}", "when am i getting up {onday}", "what time do i have to get up {onday}", "how many alarms do i have {onday}",
            "how many alarms are there for {day}", "check if i have an alarm for {day}", "check my alarm for {day}", "what's my first alarm {onday}", "what reminders do i have {onday}", "what reminders do i have for {day}",
            "do i have any reminders {onday}", "any reminders for {day}", "read my reminders for {day}",
            "what are tomorrow's alarms => dayname=tomorrow", "read tomorrow's alarms => dayname=tomorrow", "when is tomorrow's alarm => dayname=tomorrow", "what time is tomorrow's alarm => dayname=tomorrow", "any alarms tonight => dayname=tonight",
            "do i have an alarm tonight => dayname=tonight", "what's left of today's alarms => dayname=today", "what is my weekday alarm => dayname=weekdays", "what's my weekend alarm => dayname=weekends",
            "do i have an alarm on", "do i have an alarm tomorrow morning => dayname=tomorrow", "do i have alarms {onday}", "do i have anything set {onday}", "what have i got set {onday}", "what have i got set for {day}",
            "what's set for {day}", "what is set for {day}", "alarm list", "list of alarms", "list of my alarms", "the list of my alarms", "list all [my] alarms", "show all [my] alarms", "show all [my] reminders", "see my alarms",
            "let me see my alarms", "let me see the alarms for {day}", "read out my alarms", "read me my alarms [for {day}]", "read out {dayof} alarms", "tell me my alarms", "tell me my alarms for {day}", "tell me what alarms i have",
            "tell me what alarms are set [for {day}]", "tell me when my alarm is", "tell me when my alarm goes off {onday}", "tell me when you're waking me {onday}", "what time am i up {onday}", "what time am i getting up {onday}",
            "what time am i (being woken|supposed to get up|supposed to be up) {onday}", "when am i up {onday}", "when am i supposed to get up {onday}", "when do i get up {onday}", "when do you wake me {onday}",
            "when's my wake up call {onday}", "do i have a wake up call {onday}", "is there a wake up call {onday}", "is there anything set {onday}", "is there an alarm on", "is there any alarm [set|on]", "is there any alarm {onday}",
            "is my alarm still (on|set) [{onday}]", "is my {clk} alarm (on|set|still on|still set)", "is the {clk} alarm (on|set|still on|still set)", "is the alarm on {onday}", "is an alarm set {onday}",
            "is my {event} alarm (on|set)", "is the {event} alarm (on|set)", "do i have a {event} alarm", "do i have an alarm for my {event}", "did i set a {event} alarm", "did i set the {event} alarm", "did i set an alarm at {time}",
            "did i set a reminder {onday}", "did i set any reminders [{onday}]", "did i set a reminder for (my|the) {event}", "did you set my alarm {onday}", "did you set the alarm for {day}", "have i set my alarm [for {day}]",
            "have i set the alarm {onday}", "have i set any alarms [{onday}]", "have you set my alarm [for {day}]", "have you got an alarm for me {onday}", "are my alarms (set|on) [{onday}]", "are any alarms (on|set) [{onday}]",
            "are there alarms {onday}", "are there any reminders {onday}", "how many alarms have i got [{onday}]", "how many alarms are set [for {day}]", "how many reminders do i have [{onday}]", "double check my alarm [{onday}]",
            "double check (that|) i set an alarm {onday}", "check my alarms", "check my alarms {onday}", "check alarm", "check alarms {onday}", "check if my alarm is on [{onday}]", "check the alarm for {day}",
            "i forgot if i set an alarm [{onday}]", "i can't remember if i set an alarm [{onday}]", "i don't remember if i set my alarm [{onday}]", "not sure if i set an alarm {onday}", "what's my earliest alarm [{onday}]",
            "what's the earliest alarm {onday}", "what's my last alarm {onday}", "when is my first alarm [{onday}]", "when is the first alarm {onday}", "when does the next alarm go off", "when's my next alarm",
            "when's the next alarm", "when's my next reminder", "what's my next reminder", "what reminders have i got [{onday}]", "what reminders are set [for {day}]", "which reminders do i have [{onday}]", "reminders {onday}",
            "reminders for {day}", "my reminders", "my reminders {onday}", "show reminders", "show my reminders [for {day}]", "list reminders", "list reminders for {day}", "check my reminders [{onday}]", "do i have reminders {onday}",
            "have i got any reminders [{onday}]", "what will you remind me of {onday}", "what are you reminding me of {onday}", "which alarms are there", "alarms please", "alarms for {day} please"],
        held=["at what time do you wake me {onday}", "which alarms have i got", "please look at my alarms", "is anything set to ring {onday}", "go over my alarms for {day}", "what have i set the alarm to", "how early does the alarm ring {onday}",
            "look up my alarm for {day}", "how early are you waking me"],
        slots=SLOTS, call=lambda v: ("get_alarms", arguments({"day": moment({k: x for k, x in v.items() if k not in ("time", "clk", "aclk")}).get("day")}, "day")), result=some_alarms, say=say_alarms),
    Intent(
        "clock.snooze", weight=0.9,
        patterns=["snooze", "snooze (it|that|this|the alarm|my alarm)", "snooze alarm", "hit snooze", "hit the snooze", "press snooze", "hit the snooze button", "let me snooze", "let me sleep (a bit|a little|some) (longer|more)", "let me sleep more",
            "snooze please", "snooze (me|us)", "snooze the (thing|bloody thing|damn thing)", "let me sleep", "let me sleep in a bit", "let me lie in a bit", "let me sleep a little", "just {snooze} more sleep",
            "just another {snooze} in bed", "another {snooze} in bed", "not yet snooze [the alarm|it] [for] {snooze}", "not yet {snooze} more", "not getting up yet", "i'm not getting up yet",
            "(mum|mam|mummy|dad) {count} more minutes",
            "i want to sleep (a bit|a little) (longer|more)", "wake me again later", "ring again later", "not yet let me sleep", "not yet snooze", "i don't want to get up yet", "just a little longer in bed", "i'm still tired snooze",
            "i'm too tired snooze it",
                  "put the alarm on snooze", "alarm snooze", "do a snooze", "a little more sleep", "a bit more sleep please", "give me a little more time in bed", "give me a bit more time to sleep", "leave me in bed a bit longer",
                  "later i'm sleeping", "too early snooze", "it's too early snooze",
                  "snooze (for|it for|the alarm for|alarm for|that for|my alarm for) {snooze}", "snooze {snooze}", "snooze the alarm {snooze}", "{snooze} snooze", "snooze for another {snooze}", "hit snooze for {snooze}",
                  "let me sleep another {snooze}", "let me sleep for another {snooze}", "let me sleep {snooze} more", "let me sleep {snooze} longer", "let me lie in for {snooze}", "let me lie here another {snooze}",
                  "let me stay in bed another {snooze}", "i want to sleep another {snooze}", "i want {snooze} more of sleep", "i need another {snooze} of sleep",
                  "another {snooze} of sleep", "{snooze} more sleep", "{snooze} more in bed", "wake me again in {snooze}", "ring again in {snooze}", "wake me up again in {snooze}", "alarm again in {snooze}", "ring the alarm again in {snooze}",
                  "come back in {snooze}", "try again in {snooze}", "put the alarm on snooze for {snooze}", "postpone the alarm [by|for] {snooze}", "delay the alarm (by|for) {snooze}", "hold the alarm for {snooze}", "silence the alarm for {snooze}",
                  "quiet for {snooze}",
                  "{count} more minutes", "{count} more minutes please", "just {count} more minutes", "give me {count} more minutes", "i need {count} more minutes", "i want {count} more minutes of sleep", "let me sleep {count} more minutes",
                  "let me have {count} more minutes", "mom {count} more minutes", "only {count} more minutes", "{count} minute snooze", "a {count} minute snooze", "snooze {count} more minutes", "oh just {count} more minutes in bed",
                  "stop it for {snooze}", "remind me again in {snooze}",
            "i'm not ready to get up [yet]", "i can't get up yet", "i don't want to wake up", "i don't wanna get up", "i wanna sleep more", "i want to sleep more", "i want to sleep in a bit", "i want to keep sleeping",
            "i need more sleep", "i need to sleep more", "i'm so tired let me sleep", "i'm still sleepy", "i'm still sleeping", "still tired snooze", "too tired snooze", "too early", "too early let me sleep",
            "it's too early let me sleep", "it's too early wake me later", "go away i'm sleeping", "go away let me sleep", "shush let me sleep", "quiet let me sleep", "wake me later", "wake me in a bit", "wake me up in a bit",
            "wake me up later", "wake me again in a bit", "ring again in a bit", "ring me later", "go off again later", "go off again in {snooze}", "come back later", "hit that snooze", "hit the snooze for {snooze}",
            "smack the snooze", "press the snooze button", "push snooze", "push the snooze button", "tap snooze", "use snooze", "activate snooze", "turn on snooze", "snooze now", "snooze time", "snooze button", "snooze mode",
            "snooze that alarm", "snooze that thing", "snooze this alarm", "snooze alarm for {snooze}", "snooze again in {snooze}", "snooze by {snooze}", "snooze me for {snooze}", "snooze it {snooze}", "snooze it another {snooze}",
            "snooze another {snooze}", "snooze it for another {snooze}", "snooze my alarm {snooze}", "snooze alarm {snooze}", "alarm snooze {snooze}", "alarm snooze for {snooze}", "give me a {count} minute snooze",
            "{count} minutes snooze", "give me another {snooze} in bed", "give me another {snooze} of sleep", "give me {snooze} more sleep", "give me {snooze} more in bed", "can i have {snooze} more in bed",
            "can i have {count} more minutes", "can i get {count} more minutes", "could i have {count} more minutes in bed", "please mum {count} more minutes", "oh come on {count} more minutes", "nooo {count} more minutes",
            "ugh {count} more minutes", "no no {count} more minutes", "not yet {count} more minutes", "i'm tired {count} more minutes", "i'm sleeping {count} more minutes", "let me sleep for {count} more minutes",
            "let me have another {snooze} in bed", "let me kip another {snooze}", "let me doze another {snooze}", "let me rest another {snooze}", "let me stay in bed for {snooze}", "let me stay in bed {snooze} longer",
            "let me sleep in another {snooze}", "i'll get up in {snooze}", "i'm getting up in {snooze}", "i'll get up later", "leave me alone for {snooze}", "leave me in bed for another {snooze}", "bother me again in {snooze}",
            "wake me in another {snooze}", "wake me {snooze} later", "wake me up {snooze} later", "ring {snooze} later", "push the alarm back {snooze}", "push the alarm back by {snooze}", "push back the alarm {snooze}",
            "bump the alarm {snooze}", "shift the alarm by {snooze}", "pause the alarm for {snooze}", "stop the alarm for {snooze}", "mute the alarm for {snooze}", "shut up for {snooze}", "postpone the alarm", "postpone it {snooze}",
            "postpone alarm by {snooze}", "delay the alarm"],
        held=["{count} extra minutes of sleep", "may i have {count} more minutes", "have it ring again in {snooze}", "let the alarm come back in {snooze}", "hold off the alarm for {snooze}", "keep the alarm quiet for {snooze}",
            "i could use a bit more sleep", "not now i'm still sleeping"],
        slots=SLOTS, call=lambda v: ("snooze_alarm", {"minutes": v["snooze"] if v.get("snooze") is not None else v["count"]} if v.get("snooze") or v.get("count") else {}), result=maybe(0.1, "no alarm ringing"),
        say=lambda g, v, args, result: f"There is {result['error']}." if "error" in result else f"Snoozed for {args['minutes']} minute{'' if args['minutes'] == 1 else 's'}." if "minutes" in args else "Alarm snoozed."),
    Intent(
        "clock.time", weight=1.5,
        patterns=["what time is it", "what time is it", "what time is it now", "what time is it (right now|at the moment|here|currently|already|today|please)", "what's the time [now|here|right now|please]", "what is the time [now|right now|here]",
            "what time now", "what time is now", "what is time now", "what is the time please", "whats the time now", "tell the time", "tell time", "tell me time", "the time is what", "have you got the time on you",
            "have you the time", "d'you know the time", "do you have the time [on you]", "do you know what time it is now", "what's the time where i am", "what time are we at", "what time is it at home", "what time is it by you",
            "what time is it on the clock", "what's it say on the clock", "what's on the clock face", "what's the time looking like", "time is it", "current time now", "has it gone {time} [yet]", "is it nearly {time} [yet]",
            "is it almost {time}", "is it {time} or later", "is it past {time} yet", "are we past {time}", "has it turned {time}",
            "the time [please|now]", "time", "time please", "time now", "time check", "current time", "the current time", "what's the current time", "what is the current time",
            "tell me (the time|what time it is|the current time|the hour|how late it is|the exact time)",
                  "give me (the time|the current time|a time check|the exact time|the hour)", "do you (know|have) (the time|what time it is)", "do you know how late it is", "have you got the time", "you got the time", "got the time",
                  "got the time on you", "can i have the time", "may i have the time", "could i get the time", "can i get a time check", "i need the time", "i need to know (the time|what time it is)", "i want to know (the time|what time it is)",
                  "i'd like to know (the time|what time it is)", "i'd like the time",
                  "how late is it [now|already]", "how early is it", "is it late [already|yet]", "what hour is it", "what's the hour", "what does the clock say", "what's the clock say", "what does the clock read", "check the (time|clock)",
                  "check what time it is", "read me the time", "read the clock", "say the time", "speak the time", "announce the time", "show me the time", "show the time", "look at the clock", "look what time it is", "time of day",
                  "what's the time of day", "what time of day is it", "what time is it exactly", "what is the exact time", "exact time",
                  "what time do we have", "what time have we got", "what time would it be", "what time might it be", "any idea what time it is", "any idea of the time", "i lost track of time what time is it", "i have no idea what time it is",
                  "i don't know what time it is", "i can't see the clock", "i can't see the clock what time is it", "my watch stopped what time is it", "my watch is broken what's the time", "where's my watch what time is it",
                  "am i late what time is it", "what time do you make it", "what time you got",
                  "is it {time} yet", "is it already {time}", "is it past {time}", "is it after {time}", "is it {time} already", "wonder what time it is", "i wonder what time it is", "so what's the time", "local time", "what's the local time",
                  "time right now", "is it noon yet", "is it midnight yet", "is it morning yet", "is it time for bed what time is it",
            "is it before {time}", "is it before or after {time}", "how close to {time} is it", "is it (bedtime|lunchtime|dinner time|teatime|breakfast time|home time) yet",
            "is it time for (bed|lunch|dinner|tea|breakfast|school) yet", "is it time to get up yet", "is it (afternoon|evening|night|morning) (yet|already)", "is it am or pm", "is it morning or evening", "is it getting late",
            "is it late now", "is it still early", "is it early", "is it midday yet", "how late am i", "how late is it getting", "am i running late what's the time", "am i late what's the time", "i'm late what time is it",
            "i think i'm late what time is it", "i overslept what time is it", "i've just woken up what time is it", "i just woke up what time is it", "i need to catch a bus what time is it", "my phone is dead what time is it",
            "my clock stopped what's the time", "my clock is wrong what's the right time", "i haven't got my watch what's the time", "i don't have a watch what time is it", "i can't find my watch what's the time",
            "i can't read the clock", "i can't read the clock what does it say", "i have no clue what time it is", "could you give me the time", "could you read the clock", "would you know the time", "would you tell me the time",
            "may i know the time", "can i know the time", "can i ask what time it is", "can you see what time it is", "can you say the time", "what might the time be", "what o'clock is it", "what's the right time",
            "what is the right time", "the right time please", "what's the hour now", "the hour please", "the exact time please", "the clock says what", "clock", "clock time", "clock please", "check time", "check the time please",
            "check my clock", "check the clock for me", "read the time", "read out the time", "speak the time please", "shout out the time", "say what time it is", "show time", "show me the clock", "show clock",
            "give me the time now", "give me the hour", "give time", "time of the day", "time at the moment", "time here", "time in here", "time at home", "our time", "what's our time", "how's the time", "how are we for time",
            "how are we doing for time", "what time does it say", "what time does the clock say", "what time does the clock show", "what time is showing", "what time is it then", "what time is it now exactly",
            "what time exactly is it", "what's the precise time", "wonder how late it is", "i'd love to know the time", "i need the exact time", "i need the right time", "i would like to know the time",
            "i would like to know what time it is", "i forgot to check the time what is it"],
        held=["how late do we have it", "let me hear the time", "what would the clock say now", "please look up the time", "i forgot my watch what's the hour", "get me the time", "have we got past {time}", "i'm not sure what time it is"],
        slots=SLOTS, call=lambda v: ("get_time", {}), result=the_time, say=say_time),
    Intent(
        "clock.time.place", weight=1.6,
        patterns=["what time is it in {place}", "what time is it in {place}", "what time is it (now|right now|currently|at the moment) in {place}", "what time is it in {place} (now|right now|currently|at the moment)",
            "{place} what's the time", "{place} what time is it [now]", "{place} current time", "{place} local time", "{place} clock", "time now in {place}", "time now {place}", "time {place} now", "what time now in {place}",
            "what's the time now in {place}", "what's the time (over in|out in|over there in) {place}", "what time is it (over in|out in|down in|up in) {place}", "my {who} lives in {place} what's the time [over|out] there",
            "my {who} is in {place} what's the time [over] there", "my {who} lives in {place} what time is it for (him|her|them)", "i've got (family|a friend|friends|relatives) in {place} what time is it [over] there",
            "is it late in {place} what time (do they have|is it there|have they got)", "is it early in {place} what time is it there", "is it too late to (ring|phone|text) {place}", "is it too early to (ring|phone|text) {place}",
            "tell me the time (over in|out in) {place}", "tell me time in {place}", "tell time in {place}",
            "what's the time in {place} [now|right now]", "what is the time in {place} [now|right now]", "what's the (current|local|exact) time in {place}", "what is the (current|local|exact) time in {place}", "the time in {place}",
            "time in {place}", "{place} time", "{place} time please", "{place} what time",
                  "{place} time now", "time in {place} now", "time {place}", "current time in {place}", "current time {place}", "local time in {place}", "local time {place}",
                  "tell me (the time|what time it is|the current time|the local time) in {place}", "tell me {place} time", "give me (the time|the current time|the local time) in {place}", "give me {place} time",
                  "do you know (the time|what time it is) in {place}", "how late is it in {place} [now|already|right now]", "how early is it in {place}", "is it late in {place}", "is it (night|day|morning|evening) in {place}",
                  "is it still (night|dark|morning) in {place}",
                  "is it (night|day|morning|evening) in {place} (now|right now|already)", "in {place} what time is it [now]", "over in {place} what time is it", "what time is it over in {place}", "what time is it over there in {place}",
                  "what time do they have in {place}", "what time have they got in {place}", "what time would it be in {place} now", "what hour is it in {place}", "what does the clock say in {place}", "what does the clock in {place} say",
                  "check the time in {place}", "show me the time in {place}", "show the time in {place}",
                  "look up the time in {place}", "find the time in {place}", "find out what time it is in {place}", "i need the time in {place}", "i need to know the time in {place}", "i need to know what time it is in {place}",
                  "i want to know what time it is in {place}", "i'd like to know the time in {place}", "i wonder what time it is in {place}", "can i have the time in {place}", "any idea what time it is in {place}", "what's {place} time",
                  "what is {place} time", "what's the time for {place}", "what's the time at the moment in {place}", "what time zone is it and what time is it in {place}",
                  "i have to call {place} what time is it there", "i want to call someone in {place} what time is it there", "i'm calling {place} what time is it there", "my {who} lives in {place} what time is it there",
                  "my friend is in {place} what time is it there", "what time is it there in {place}", "what time is it for people in {place}", "what time is it where my friend lives in {place}", "are they awake in {place}",
                  "are people asleep in {place} now", "can i call {place} now or is it too late there", "is it too late to call {place}", "is it too early to call {place}", "clock in {place}", "the clock in {place}",
            "if i (ring|phone|call) {place} now what time is it there", "i want to (ring|phone) {place} what's the time there", "i need to ring {place} what time is it there", "i'm flying to {place} what time is it there",
            "i'm going to {place} what time is it there [now]", "i have a call with {place} what time is it there", "i have a meeting with {place} what's their time", "i've got a call with {place} what time do they have",
            "we're calling {place} what time is it there", "my {who} moved to {place} what time is it there", "my {who} is travelling in {place} what time is it there", "my {who} in {place} what time is it there",
            "what time is it for my {who} in {place}", "where my {who} lives in {place} what time is it", "are they (up|sleeping|still up|awake yet|in bed) in {place}", "are people (awake|up|sleeping) in {place}",
            "is everyone asleep in {place}", "is {place} awake", "is {place} asleep", "is it (daytime|nighttime|bedtime|lunchtime|midnight|breakfast time) in {place}", "is it tomorrow in {place} already",
            "is it already tomorrow in {place}", "is it dark in {place} [now]", "is it the middle of the night in {place}", "is it (am or pm|morning or evening|day or night) in {place}", "how late is it (over|out) in {place}",
            "how late is it for people in {place}", "how late have they got in {place}", "what's the hour in {place}", "what's the clock in {place}", "what does the clock in {place} say now", "what time does it say in {place}",
            "what time's it in {place}", "what time they have in {place}", "what time is in {place} [now]", "what is time in {place} [now]", "what is the time now in {place}", "what is the time over in {place}",
            "what is {place} time now", "what's {place} time right now", "what's {place} local time", "what's the local time over in {place}", "what's the time like in {place}", "whats the time in {place}", "time over in {place}",
            "time out in {place}", "time at {place}", "time of {place}", "time for {place}", "time check {place}", "time check for {place}", "the current time in {place}", "the local time in {place}", "the time over in {place}",
            "the time now in {place}", "{place} time right now", "{place} right now what time", "{place} now what time is it", "{place} time check", "current {place} time", "give me time in {place}",
            "give me the time over in {place}", "get the time in {place}", "check {place} time", "check what time it is in {place}", "check the clock in {place}", "do you have the time in {place}", "have you got the time in {place}",
            "got the time in {place}", "got the time for {place}", "could you check the time in {place}", "could i have the time in {place}", "may i know the time in {place}", "can you say what time it is in {place}",
            "i would like to know the time in {place}", "i need {place} time", "world clock {place}", "world time {place}"],
        held=["get me the time in {place}", "let me hear the time in {place}", "how far along is the day in {place}", "please look what time people in {place} have", "if i call {place} now what time is it there", "what would a clock in {place} say",
            "people in {place} what time do they have", "the hour in {place}"],
        slots={**SLOTS, "who": lambda g: (g.pick(["sister", "brother", "mother", "son", "daughter", "aunt", "boss", "cousin", "girlfriend", "uncle"]),) * 2}, call=lambda v: ("get_time", {"place": v["place"]}), result=the_time, say=say_time),
    Intent(
        "clock.date", weight=1.3,
        patterns=["what's the date", "what is the date", "what's the date today", "what is today's date", "what's today's date", "what is the date today", "today's date", "today's date please", "the date", "the date today", "date", "date today",
            "what date today", "what day today", "which day today", "today date", "today what date", "today what day", "what is today date", "what's the date mate", "what's the day and date", "the day and date", "day and date please",
            "what day are we", "what are we on today", "which date today", "what's the date now", "the date please", "tell me today's day", "tell the date", "tell me date", "tell me the day and date", "what's the day of the week",
            "is it {wday} yet", "is it still {wday}", "is it really {wday}", "is it really {wday} already", "is today {wday} already",
            "date please", "current date", "the current date", "what's the current date", "what day is it", "what day is it today", "what day is today", "what day of the week is it", "what day of the week is it today",
            "what day of the week is today", "what weekday is it", "what weekday is it today", "which day is it",
                  "which day is today", "which day of the week is it", "which date is it", "which date is it today", "what date is it", "what date is it today", "what date is today", "what date do we have", "what date do we have today",
                  "what day do we have today", "what day of the month is it", "what day of the month is it today", "what's the day", "what's the day today", "what is the day today", "what month is it", "what month are we in", "which month is it",
                  "what day are we on", "what are we today", "what's today", "what is today", "today is what day",
                  "tell me (the date|today's date|what day it is|what day it is today|what the date is|what date it is|the day|what today is|what day of the week it is)", "give me (the date|today's date|the current date|the day and the date)",
                  "do you know (what day it is|the date|today's date|what day today is)", "do you know what date it is", "i need (the date|today's date)", "i need to know (the date|what day it is|today's date)", "i forgot what day it is",
                  "i don't know what day it is", "i've lost track what day is it", "i want to know what day it is", "i'd like to know the date",
                  "any idea what day it is", "any idea what the date is", "remind me what day it is", "remind me what the date is", "can i have the date", "can i have today's date", "may i have the date", "say the date", "read me the date",
                  "show me the date", "check the date", "check the calendar for today's date", "what does the calendar say", "what's written on the calendar", "what does the calendar say today", "day of the week", "day of the week today",
                  "weekday today", "day today", "today's day", "i wonder what day it is",
                  "is (it|today) {wday}", "is it {wday} today", "is today {wday} or not", "is it {wday} already", "is today the weekend", "is it the weekend yet", "is it a weekday today", "what's the date right now", "what day and date is it",
                  "what is the full date", "i have to sign this what's the date", "i'm writing a check what's the date", "date and day please", "is it the {nth} today", "is today the {nth}", "is it {month}", "is it still {month}",
                  "is it {month} already",
            "it's {wday} isn't it", "today's {wday} right", "it's {wday} today right", "is this {wday}", "isn't it {wday} today", "is it a weekend", "is it a weekday", "is it the weekend", "is it a school day", "is it nearly {month}",
            "is it {month} yet", "are we in {month} [already]", "are we in {month} now", "is it the {nth}", "is it the {nth} or later", "is it the {nth} yet", "is it already the {nth}", "is today the {nth} or not",
            "is it the end of the month", "is it the start of the month", "how far into the month are we", "what number day of the month is it", "what's the month", "what month are we", "what month is this", "what month is it now",
            "which month are we in", "what is this month", "what's the date at the moment", "what's the current day", "what's the current date today", "what's the exact date", "what is the exact date today", "what's the weekday",
            "what weekday are we on", "what week day is it", "what day of week is it", "what day of week is today", "what's today's weekday", "what's today's date please", "what day's it today", "what day's today", "what is it today",
            "what's the day today please", "what is today's day", "what is today's day and date", "what day would it be today", "so what day is it", "have you got the date", "have you got today's date", "got the date",
            "got today's date", "do you have the date", "do you have today's date", "do you know today's date", "do you know the date today", "d'you know what day it is", "you know what day it is", "could i have the date",
            "could i have today's date", "could you tell me today's date", "could you check the date", "may i know the date", "may i know today's date", "can i know the date", "can you see what day it is",
            "can you tell what day it is", "i've forgotten what day it is", "i've forgotten the date", "i forgot the date", "i forgot today's date", "i've no idea what day it is", "i have no idea what day it is",
            "i lost track of the days", "i lost track of the date", "i can't remember what day it is", "i can't remember the date", "i keep mixing up the days what day is it", "i'm confused what day is it",
            "i'm filling in a form what's the date", "i'm filling out a form what's today's date", "i'm writing a letter what's the date", "i have to sign something what's the date today", "i need the date for a form",
            "i need to date this what's today", "i would like to know the date", "i would like to know what day it is", "i'd like today's date", "give me today's date", "give me date", "give me the day of the week", "give the date",
            "get the date", "show today's date", "show the date", "show date", "read the date", "read out the date", "read the calendar", "look at the calendar what's today", "look at the calendar", "check today's date", "check date",
            "check what day it is", "check the day", "say today's date", "say what day it is", "say the day", "date and day", "date today please", "date now", "date of today", "day of week", "day of the month", "weekday please",
            "the weekday", "the day today", "the day please", "what day", "what date", "calendar date", "calendar day", "today's the what", "wonder what day it is", "wonder what the date is"],
        held=["let me hear the date", "get me the date", "what day would today be", "please look up today's date", "which day have we got", "on what date are we", "i'm not sure what day it is", "what have they written on the calendar today"],
        slots={**SLOTS, "wday": lambda g: (g.pick(WEEKDAYS), None), "nth": lambda g: (ordinal(g, g.number(1, 31)), None), "month": lambda g: (g.pick(MONTHS), None)}, call=lambda v: ("get_date", {}), result=the_date, say=say_date),
    Intent(
        "clock.date.day", weight=1.7,
        patterns=["what day is {asked}", "what day is {asked}", "what's the date {rel}", "what is the date {rel}", "what's the date on {wday}", "what is the date on {wday}", "what's the date of {named}", "what is the date of {named}",
            "{holiday} what day", "{holiday} when", "{holiday} when is it", "{tom} what day", "{tom} what date", "{tom} date", "{tom} day", "{wday} what date", "{wday} date", "{named} what day of the week", "{named} weekday",
            "{named} day of the week", "{calendar} what day is it", "what day {named}", "what day of the week {named}", "what date {wday}", "what date {tom}", "when's {holiday} this year", "when is {holiday} this year",
            "which day is {holiday} [on]", "what day is {holiday} on [this year]", "what's the date {far}", "what is the date {far}", "what day is it {far}", "what day will it be {far}", "what date will it be {far}",
            "what date is it {far}", "date {far}", "what was the date {ago}", "what day was it {ago}", "what date was it {ago}", "what date is {nthday}", "what's the date of {nthday}", "when is {nthday}", "what day is {nthday}",
            "is {holiday} a {weekdayname}", "is {holiday} on a {weekdayname}", "is {holiday} on a weekend",
            "what date is {asked}", "what date is {wday}", "what date is it on {wday}", "what date will it be {rel}", "what day of the week is {asked}", "what day of the week is {named}", "what weekday is {named}", "what weekday is {asked}",
            "which day is {asked}", "which day of the week is {named}", "which weekday is {named}",
                  "which date is {asked}", "which date is {wday}", "what day does {named} fall on", "what day of the week does {named} fall on", "what day does {holiday} fall on this year", "what weekday does {named} fall on",
                  "which day does {named} fall on", "on what day is {named}", "on which day is {named}", "on what day does {named} fall", "on what date is {holiday}", "when is {holiday}", "when is {holiday}", "when's {holiday}",
                  "when does {holiday} fall", "when will {holiday} be", "when do we celebrate {holiday}", "when do we have {holiday}", "when is it {holiday}",
                  "what day will it be on {named}", "what day will {named} be", "what day will {asked} be", "what day is it on {named}", "what day is it {tom}", "what date is it {tom}", "what date was it {tom}", "what day was {tom}",
                  "what day was it {tom}", "what was the date {tom}", "what was the date {lastday}", "what day is {tom}", "what's {tom}'s date", "what is {tom}'s date", "{tom}'s date", "date of {named}", "date {tom}", "date for {wday}",
                  "date of {wday}", "date on {wday}", "day of the week for {named}", "weekday of {named}", "{holiday} date", "the date of {holiday}", "the date {tom}", "the date on {wday}",
                  "tell me (the date|what day it is) {tom}", "tell me the date (of|for) {asked}", "tell me what day {asked} is", "tell me what day {named} falls on", "tell me when {holiday} is", "tell me what date {asked} is",
                  "give me the date (of|for) {asked}", "give me the date {tom}", "do you know when {holiday} is", "do you know what day {named} is", "do you know what date {wday} is", "i need the date (of|for) {asked}",
                  "i need to know what day {named} is", "i need to know when {holiday} is", "i forgot when {holiday} is", "i wonder when {holiday} is", "i want to know what day {asked} is", "i'd like to know when {holiday} is",
                  "any idea when {holiday} is", "any idea what day {named} is", "is {named} on a weekend", "is {named} a weekday", "is {named} a {weekdayname}", "is {named} on a {weekdayname}", "is {holiday} on a weekend this year",
                  "does {named} fall on a weekend", "does {named} fall on a {weekdayname}", "is tomorrow {weekdayname} => tomorrow=true", "is it {weekdayname} tomorrow => tomorrow=true", "(will it be {weekdayname} tomorrow|is it (a|already|really|going to be) {weekdayname} tomorrow|tomorrow is it {weekdayname}|tomorrow is {weekdayname} (right|isn't it)|isn't it {weekdayname} tomorrow|it's {weekdayname} tomorrow (right|isn't it)) => tomorrow=true",
                  "check the date of {asked}", "check what day {named} is", "check when {holiday} is", "look up the date of {holiday}", "look up when {holiday} is", "find out when {holiday} is", "{named} is what day",
                  "{named} what day is that", "{asked} is which day", "which day will {named} be", "what would the date be {tom}", "the weekday of {named}", "how does {named} fall", "when exactly is {holiday}", "what's the exact date of {holiday}",
                  "what is the day of {holiday}", "when's {wday}", "when is {wday}", "my birthday is {calendar} what day is that", "i was born on {calendar} what day is that", "the party is on {calendar} what day of the week is that",
                  "we leave on {calendar} what weekday is that",
            "what will the date be {far}", "what's the day {far}", "which day is it {far}", "what day of the week is it {far}", "what date are we {far}", "tell me the date {far}", "tell me what day it is {far}",
            "tell me the date {ago}", "give me the date {far}", "day of the week {far}", "date {ago}", "which day was it {ago}", "{nthday} what date is that", "{nthday} date", "date of {nthday}", "which date is {nthday}",
            "tell me the date of {nthday}", "what is the date of {nthday}", "when's {nthday}", "what date does {holiday} fall on", "what date is {holiday}", "what date is {holiday} on", "what date's {holiday}",
            "what's the date for {holiday}", "what date was {wday}", "what date was it on {wday}", "what was {tom}'s date", "what was {lastday}'s date", "what's {wday}'s date", "what is {wday}'s date", "what's the date for {wday}",
            "what day is it going to be {tom}", "what day is it going to be on {named}", "what day would {named} be", "what day's {named}", "what day's {tom}", "what day of the week was {calendar}", "what day was {calendar}",
            "what day was {named}", "what weekday was {calendar}", "what day of the week will {named} be", "what weekday will {named} be", "which weekday will {named} be on", "on which day of the week is {named}",
            "on which day will {named} be", "on which date is {holiday}", "on which date is {wday}", "on what weekday is {named}", "on what day of the week is {named}", "in which month is {holiday}", "which month is {holiday} [in]",
            "what month is {holiday} [in]", "is {holiday} in {monthname}", "is {holiday} this month", "is {holiday} early this year", "is {holiday} late this year", "is {holiday} soon", "is {named} a work day",
            "is {named} a working day", "is {named} during the week", "will {named} be a {weekdayname}", "will {named} be on a weekend", "will {holiday} be on a weekend this year", "does {holiday} fall on a {weekdayname} this year",
            "isn't {holiday} on a {weekdayname}", "i was married on {calendar} what day was that", "my exam is on {calendar} what day is that", "my flight is on {calendar} what day is that",
            "the wedding is on {calendar} what day of the week is that", "the appointment is on {calendar} which day is that", "we're going on {calendar} what day is that", "what day of the week is that {calendar}",
            "is {calendar} a weekend", "is {calendar} a {weekdayname}", "when does {holiday} start", "when does {holiday} start this year", "when is {holiday} exactly", "when is {holiday} celebrated", "when's {holiday} on",
            "when's it {holiday}", "when exactly does {holiday} fall", "when are we celebrating {holiday}", "when do people celebrate {holiday}", "the date for {holiday}", "the date of {holiday} please", "the day of {holiday}",
            "the day of the week for {named}", "date for {holiday}", "date for {named}", "date of {wday} please", "day for {named}", "day of {named}", "{holiday} this year", "{holiday} this year when", "{holiday} date please",
            "{holiday} day of week", "{holiday} is when", "{holiday} falls on what day", "{holiday} falls on which day", "{named} falls on which weekday", "{named} is on which day", "{named} which day", "{named} which weekday",
            "{tom} is what day", "{tom} is what date", "{wday} is what date", "{wday} is the what", "i forgot what day {holiday} is", "i can't remember when {holiday} is", "i can't remember what day {named} is",
            "i'm planning for {holiday} when is it", "could you tell me when {holiday} is", "could you tell me what day {named} is", "could you check when {holiday} is", "can you tell me the date {tom}",
            "can you tell me {tom}'s date", "may i know the date {tom}", "may i know when {holiday} is", "do you know the date {tom}", "do you know when {holiday} falls", "do you know which day {named} is",
            "would you know when {holiday} is", "see what day {named} is", "see when {holiday} is", "find the date of {holiday}", "find me the date of {holiday}", "find out what day {named} is", "check the day of {named}",
            "check {named} what day is it"],
        held=["what date have we got {tom}", "can you look up which day {named} is on", "get me the date of {holiday}", "how late in the year is {holiday}", "let me hear what day {named} is", "{named} is that a weekday",
            "what does the calendar say for {named}", "what day of the week would {named} be", "and when would {holiday} be", "on which weekday will we have {named}"],
        slots={**SLOTS, "weekdayname": lambda g: (g.pick(WEEKDAYS), None), "monthname": lambda g: (g.pick(MONTHS), None)}, call=date_call, result=the_date, say=say_date),
    # follow-ups
    Intent(
        "clock.set.change", follows=SETS, weight=1.4,
        patterns=["make it {time}", "make it {time} instead", "no make it {time}", "actually make it {time}", "no {time}", "change it to {time}", "change that to {time}", "change the time to {time}", "change the alarm to {time}", "move it to {time}",
            "make it {time} then", "no not {othert} {time}", "not {othert} {time}", "{time} not {othert}", "i said {time} not {othert}", "i meant {time} not {othert}", "not {otherd} {day}", "no not {otherd} {day}",
            "i said {day} not {otherd}", "{day} not {otherd}", "make it {day}", "make it {onday}", "make that {when}", "no i meant {when}", "no {when}", "no wait {time}", "oops {time}", "oops i meant {time}", "actually {time}",
            "actually {day}", "actually make that {time}", "actually {when}", "bump it to {time}", "shift it to {time}",
            "move that to {time}", "set it to {time} instead", "set it for {time} instead", "{time} instead", "rather {time}", "better {time}", "better make it {time}", "{time} is better", "{time} would be better", "i meant {time}",
            "no i meant {time}", "i said {time}", "no i said {time}", "sorry {time}",
                  "sorry i meant {time}", "oh no {time}", "not that {time}", "let's say {time}", "let's do {time}", "let's make it {time}", "let's make that {time}", "on second thought {time}", "wait make it {time}", "wait {time}",
                  "hmm {time} instead", "i'd prefer {time}", "i prefer {time}", "could we do {time}", "could it be {time}", "can we do {time} instead", "can you change that to {time}", "how about {time} instead", "it should be {time}",
                  "that should be {time}", "it has to be {time}", "do {time} instead", "go with {time}", "say {time}", "reschedule it to {time}", "push it to {time}", "change it to {when}",
                  "make it {when}", "make it {day} instead", "no {day}", "change it to {day}", "move it to {day}", "i meant {day}", "no i meant {day}", "{day} instead", "not that day {day}", "on {weekday} i mean", "make that {day}",
                  "for {day} i mean", "i mean {day}", "better {day}", "do it {onday} instead", "change the day to {day}", "set it for {day} instead", "it should be {day}", "sorry {day}", "wrong day {day}",
            "bump that to {time}", "shift it to {day}", "push it back to {time}", "push it to {day}", "bring it forward to {time}", "put it at {time}", "put it on {day} instead", "put it to {time} instead", "set it for {time}",
            "set it to {time}", "make it {time} {onday}", "make it {time} {day}", "make it {time} not {othert}", "that's too early make it {time}", "that's too late make it {time}", "too early make it {time}",
            "too late make it {time}", "too early {time}", "a bit early make it {time}", "that's wrong {time}", "that's wrong i said {time}", "wrong time {time}", "wrong time i meant {time}", "wrong day i meant {day}",
            "that should have been {time}", "it was supposed to be {time}", "it should have been {day}", "no no {time}", "no no i said {time}", "no sorry {time}", "no sorry {day}", "no it's {time}", "no it's {day}", "no on {weekday}",
            "no for {day}", "i mean {time}", "i mean {when}", "i mean {onday}", "only {onday}", "but only {onday}", "but {onday}", "but for {day}", "make it daily => dayname=daily", "make it repeat daily => dayname=daily",
            "make that a daily alarm => dayname=daily", "make it a daily thing => dayname=daily", "every day please => dayname=daily", "every day => dayname=daily", "make it every weekday => dayname=weekdays",
            "weekdays only => dayname=weekdays", "only on weekdays => dayname=weekdays", "only weekdays => dayname=weekdays", "just on weekends => dayname=weekends", "just for {day}", "for {day} please", "that's for {day}",
            "it's for {day}", "i forgot to say {onday}", "hmm {time}", "hmm make it {time}", "hmm better {time}", "let's go with {time}", "let's say {day}", "let's do {day} instead", "can you make it {time}", "can you make it {day}",
            "could you make that {time}", "could you change it to {day}", "can we make it {time}", "switch that to {time}", "switch that to {day}", "switch to {time}", "change to {time}", "change time to {time}", "change to {day}",
            "update it to {time}", "edit it to {time}", "correct it to {time}"],
        held=["switch it to {time}", "i like {time} better", "i'd rather have {time}", "let it be {time}", "please have it at {time}", "switch it to {day}", "i like {day} better", "let's go for {time}"],
        slots={**SLOTS, "weekday": lambda g: (lambda d: (d, d))(g.pick(WEEKDAYS))}, call=lambda v: moved({**v, "dayname": v.get("dayname") or v.get("weekday")}, True), say=say_set),
    Intent(
        "clock.set.half", follows=("clock.set", "clock.set.named", "clock.remind", "clock.set.change"), weight=0.25,  # the same hour in the other half of the day
        patterns=["i meant pm => half=pm", "no pm => half=pm", "pm i mean => half=pm", "pm not am => half=pm", "no i meant pm => half=pm", "make it pm => half=pm", "make that pm => half=pm", "in the evening i mean => half=pm", "in the evening not in the morning => half=pm",
            "i meant in the evening => half=pm", "sorry pm => half=pm", "actually pm => half=pm", "i said pm => half=pm", "pm please => half=pm", "not in the morning in the evening => half=pm", "no in the evening => half=pm", "that's pm => half=pm",
            "i meant am => half=am", "no am => half=am", "am i mean => half=am", "am not pm => half=am", "no i meant am => half=am", "make it am => half=am", "make that am => half=am", "in the morning i mean => half=am", "no am not pm => half=am",
            "in the morning not in the evening => half=am", "i meant in the morning => half=am", "sorry am => half=am", "actually am => half=am", "i said am => half=am", "am please => half=am", "no in the morning => half=am", "that's am => half=am"],
        held=["it should be pm => half=pm", "it should be am => half=am"],
        slots=SLOTS, call=lambda v: ("set_alarm", half_of(v["prev"].get("args", {}), v["half"])), say=say_set),
    Intent(
        "clock.set.another", follows=SETS, weight=1.2,
        patterns=["and one for {time}", "and another one for {time}", "and another for {time}", "and another one at {time}", "and one more for {time}", "and one at {time}", "another one at {time}", "another one for {time}", "another for {time}",
            "and {at}", "and {at} too", "also {at} to {task}", "and {at} to {task}", "and to {task} {at}", "and {task} {at}", "and remind me to {task} {at}", "and remind me to {task} {at} too", "and also to {task} {at}",
            "also to {task} {at}", "and {at} remind me to {task}", "and another {at}", "and another one {at}", "and one {at}", "one more {at}", "also one {at}",
            "one more for {time}", "one more at {time}", "also one for {time}", "also one at {time}", "also at {time}", "and also at {time}", "and at {time} too", "and at {time}", "plus one at {time}", "plus one for {time}",
            "and a second one for {time}", "a second one at {time}", "and one more alarm for {time}",
                  "and a backup for {time}", "and a backup alarm at {time}", "also an alarm for {time}", "and an alarm for {time}", "add one for {time}", "add another one at {time}", "then another one at {time}", "and then one at {time}",
                  "now one for {time}", "and set one for {time} too", "do one for {time} as well", "same thing at {time}", "and again at {time}", "wake me again at {time}",
                  "and one for {when}", "another one for {when}", "and also {at}", "and {at} as well", "one for {event} at {time} too", "and one for the {event} at {time}", "and one called {event} at {time}", "also one for {event} at {time}",
                  "and a {event} alarm at {time}",
            "and {time} as well", "and {time} too", "and {time}", "also {time}", "plus {at}", "then {at}", "then one {at}", "then another {at}", "and then {at}", "and again {at}", "and again at {time} too", "again {at}",
            "and wake me again {at}", "and one more {at}", "and a second one {at}", "a second one {at}", "another {at}", "another alarm {at}", "another alarm for {time}", "one {at} too", "one {at} as well", "one for {when} too",
            "one for {when} as well", "put another one on for {when}", "put one on {at} too", "set one {at} too", "set one for {when} too", "set another {at}", "set another for {when}", "set another one for {when}",
            "add one for {when}", "add one {at}", "add another {at}", "add another for {when}", "and add one for {when}", "and i need one {at}", "i need another one {at}", "i need one for {when} too", "give me another one {at}",
            "and an alarm {at}", "and another alarm {at}", "also an alarm {at}", "also set one {at}", "also set one for {when}", "also wake me {at}", "and wake me {at}", "and wake me {at} too", "same {at}", "same again {at}",
            "the same {at}", "and also remind me {at} to {task}", "also remind me to {task} {at}", "and one {at} to {task}", "and another one {at} to {task}", "and one to {task} {at}", "another one to {task} {at}",
            "plus one to {task} {at}", "and then to {task} {at}", "and don't let me forget to {task} {at}", "and about (my|the) {event} {at}", "also about (my|the) {event} {at}", "and about {occ} {at}",
            "and {at} about (my|the) {event}", "and one for (my|the) {event} {at}", "another one for (my|the) {event} {at}", "and one for {event} {at}", "and a {event} one {at}", "and a {event} one for {when}",
            "and a {event} alarm {at}", "and a {event} reminder {at}"],
        held=["and then one more at {time}", "plus a second alarm at {time}", "let me have one for {time} too", "and for the {event} one at {time}"],
        slots=SLOTS, call=lambda v: moved(v, False, v.get("event") or v.get("task") or v.get("occ")), say=say_set),
    Intent(
        "clock.set.day", follows=SETS, weight=0.8,
        patterns=["and {onday} too", "and {onday} as well", "and also {onday}", "also {onday}", "also for {day}", "and for {day}", "and for {day} too", "the same for {day}", "the same {onday}", "same for {day}", "same time {onday}",
            "the same time {onday}", "and the same for {day}", "and the same {onday}", "same thing {onday}", "and one for {day}", "another one for {day}", "do the same for {day}", "do the same {onday}", "and do that {onday} too", "repeat it {onday}",
            "repeat that for {day}", "set it for {day} too", "one for {day} as well", "and again {onday}",
            "same {onday}", "the same for {day} please", "same again {onday}", "same again for {day}", "same alarm {onday}", "same alarm for {day}", "the same alarm {onday}", "same thing for {day}", "same time for {day}",
            "same for {day} please", "{onday} too", "{onday} as well", "{day} too", "{day} as well", "and {day}", "and {day} too", "and {day} as well", "and {onday}", "and the same time {onday}", "and at the same time {onday}",
            "at the same time {onday}", "also for {day} please", "also do it {onday}", "do it {onday} too", "do it {onday} as well", "do that for {day} too", "do that for {day} as well", "set it {onday} too",
            "set it for {day} as well", "set the same for {day}", "set the same {onday}", "set the same one for {day}", "put it on for {day} too", "wake me {onday} too", "wake me {onday} as well", "wake me at the same time {onday}",
            "copy it to {day}", "repeat it for {day}", "repeat that {onday}", "plus {onday}", "plus {day}", "and one {onday}", "and another one {onday}", "make one for {day} too", "then {onday} too"],
        held=["have the same {onday} too", "plus one for {day}", "and {onday} again please"],
        slots=SLOTS, call=lambda v: moved(v, True), say=say_set),
    Intent(
        "clock.set.name", follows=("clock.set", "clock.set.change", "clock.set.another"), weight=0.4,
        patterns=["call it {event}", "name it {event}", "label it {event}", "and call it {event}", "call that {event}", "call that one {event}", "give it the name {event}", "it's for {event}", "that's for {event}", "the name is {event}",
            "name that alarm {event}", "it's to {task}", "so that i {task}", "that's so i can {task}", "put {event} as the name"],
        held=["let's call it {event}", "have it say {event}"],
        slots=SLOTS, call=lambda v: moved({"prev": v["prev"]}, False, v.get("event") or v.get("task"))
        if not v["prev"].get("args", {}).get("day") else ("set_alarm", arguments({**v["prev"]["args"], "name": v.get("event") or v.get("task")}, "time", "day", "name")), say=say_set),
    Intent(
        "clock.cancel.it", follows=SETS + ("clock.set.day", "clock.set.name"), weight=1.2,
        patterns=["cancel it", "cancel that", "delete it", "delete that", "never mind", "never mind cancel it", "never mind cancel that", "forget it", "forget that", "remove it", "stop it", "turn it off", "turn that off", "no cancel that",
            "no cancel it", "cancel that one", "delete that one", "actually cancel it", "actually never mind", "on second thought cancel it", "get rid of it", "kill it", "cancel the alarm", "delete the alarm", "cancel that alarm",
            "delete that alarm", "undo that", "undo it", "take it off", "oh forget it", "i changed my mind cancel it",
                  "i changed my mind", "i don't need it [anymore|after all]", "i don't need that [anymore|after all]", "no don't", "wait cancel that", "drop it", "switch it off", "disable it", "clear it", "remove that one", "cancel that again",
                  "no forget it", "don't set it",
            "scrap it", "scrap that", "scrap that one", "ditch it", "ditch that", "nix it", "nix that", "bin it", "wipe it", "wipe that", "axe it", "lose it", "kill that", "kill that one", "chuck it", "nevermind", "no never mind",
            "no never mind cancel it", "oh never mind", "wait no cancel it", "wait no", "okay cancel it", "okay cancel that", "please cancel that", "cancel that please", "cancel that reminder", "cancel the reminder",
            "delete the reminder", "forget the reminder", "forget the alarm", "forget about it", "forget it cancel it", "i won't need it", "i won't need it after all", "i don't want it [anymore]", "i don't want that",
            "no i don't want that", "don't do that", "don't wake me", "don't wake me after all", "don't bother", "don't remind me", "no alarm after all", "no reminder after all", "no need", "no need for that", "not needed anymore",
            "turn it off again", "turn that one off", "turn the alarm off", "turn off the alarm", "turn off that alarm", "switch that off", "shut it off", "stop that", "stop the alarm", "remove that", "remove that alarm",
            "remove the alarm", "take it away", "take that off", "get rid of that", "get rid of that one", "delete it again", "erase it", "erase that", "clear that", "drop that", "drop that one", "undo", "undo the alarm",
            "changed my mind", "changed my mind cancel it", "on second thought don't", "on second thought cancel that", "on second thought never mind", "that's wrong cancel it", "that's wrong delete it", "wrong cancel it"],
        held=["call it off", "scrap that", "please scrap it", "take that away again"],
        slots=SLOTS, call=again_cancel, say=say_cancel),
    Intent(
        "clock.cancel.listed", follows=("clock.alarms", "clock.alarms.day"), weight=0.9,
        patterns=["cancel them [all] => all=true", "cancel all of them => all=true", "delete them [all] => all=true", "delete all of them => all=true", "turn them [all] off => all=true", "remove them [all] => all=true",
            "cancel the ones for {day} [then]", "cancel the one for {day}", "cancel the one {onday}", "delete the one for {day}", "delete the ones for {day}", "turn off the one for {day}", "cancel {dayof}", "delete {dayof}",
            "cancel it", "cancel that", "cancel that one", "delete it", "delete that one", "turn it off", "turn that one off",
            "clear them [all] => all=true", "get rid of them => all=true", "get rid of all of them => all=true", "cancel every one => all=true", "cancel all => all=true", "okay cancel them => all=true", "then cancel them all => all=true",
                  "cancel the {clk} one", "delete the {clk} one", "remove the {clk} one", "turn off the {clk} one", "cancel the one at {time}", "delete the one at {time}", "remove the one for {time}", "turn the {clk} one off", "drop the {clk} one",
                  "get rid of the {clk} one", "the {clk} one can go", "i don't need the {clk} one", "i don't need the one at {time}", "cancel {time}", "kill the {clk} one", "turn off the one for {time}",
            "get rid of it", "get rid of that one", "remove it", "kill it", "scrap it", "scrap that one", "okay cancel it", "then cancel it", "i don't need it [anymore]", "i don't need that one", "drop that one", "no cancel that one",
            "cancel {dayof} one", "turn off {dayof}", "delete {dayof} one", "drop {dayof}", "the one for {day} can go", "i don't need the one for {day}", "i don't need the one {onday}", "get rid of the one {onday}",
            "get rid of the ones for {day}", "scrap the one for {day}", "kill the one {onday}", "remove the one {onday}", "cancel the {clk}", "delete the {clk}", "cancel the alarm at {time}", "cancel the {clk} alarm then",
            "okay delete the {clk} one", "then cancel the {clk} one", "ditch the {clk} one", "kill the one at {time}", "turn off the {clk}", "forget the {clk} one", "cancel the lot => all=true", "scrap the lot => all=true",
            "scrap all of them => all=true", "wipe them => all=true", "wipe them all => all=true", "kill them all => all=true", "turn them off => all=true", "turn all of them off => all=true", "all off => all=true",
            "all of them off => all=true", "delete the lot => all=true", "delete every one => all=true", "ditch them all => all=true", "drop them all => all=true", "cancel those => all=true", "delete those => all=true",
            "cancel all those => all=true", "cancel all of those => all=true", "cancel both => all=true", "cancel both of them => all=true", "i don't need any of them => all=true", "i don't need them => all=true"],
        held=["scrap them all => all=true", "scrap the {clk} one", "call off the one at {time}"],
        slots=SLOTS, call=lambda v: ("cancel_alarm", arguments({"time": moment(v).get("time"), "day": moment(v).get("day") or v["prev"].get("args", {}).get("day"), "all": v.get("all")}, "time", "day", "all")), result=cancelled, say=say_cancel),
    Intent(
        "clock.alarms.day", follows=("clock.alarms", "clock.alarms.day"), weight=1.0,
        patterns=["and {onday}", "what about {day}", "what about {onday}", "how about {day}", "and for {day}", "and what about {day}", "and on {weekday}", "and {weekday}", "{onday}", "and what about {onday}", "any {onday}", "any for {day}",
            "are there any {onday}", "and for {day} too", "do i have any {onday}", "is there one {onday}", "is there one for {day}", "what is there for {day}", "how about {onday}", "and the ones for {day}", "also {onday}",
            "and {day}", "and for {day} then", "and {dayof}", "what about {weekday}", "how about {weekday}", "what about {day} then", "okay and {onday}", "okay and for {day}", "and anything {onday}", "anything {onday}",
            "anything for {day}", "anything set {onday}", "and is there one {onday}", "and is there anything {onday}", "and did i set one {onday}", "did i set one for {day}", "and do i have one {onday}", "do i have one {onday}",
            "do i have one for {day}", "do i have anything {onday}", "have i got one {onday}", "have i got one for {day}", "what have i got {onday}", "what's there for {day}", "and which ones {onday}", "and the alarms for {day}",
            "and the alarms {onday}", "also for {day}", "now {day}", "no for {day}", "no {onday}", "no i meant {day}", "i meant {day}", "i mean {onday}", "only {onday}", "just for {day}", "same for {day}", "same question for {day}",
            "check {day} too", "and check {day}"],
        held=["and how is it {onday}", "have i got any {onday}"],
        slots={**SLOTS, "weekday": lambda g: (lambda d: (d, d))(g.pick(WEEKDAYS))}, call=lambda v: ("get_alarms", {"day": v.get("onday") or v.get("day") or v.get("weekday") or v.get("dayof")}), result=some_alarms, say=say_alarms),
    Intent(
        "clock.alarms.add", follows=("clock.alarms", "clock.alarms.day"), weight=0.7,
        patterns=["add one for {when}", "add one {at}", "add another one for {when}", "set one for {when}", "set one {at}", "then set one {at}", "okay set one for {when}", "set another one {at}", "make one for {when}", "i need one {at}",
            "put one on for {when}", "create one for {when}", "another one {at}", "one more {at}", "and add one for {when}", "then wake me {at}", "give me one {at}", "i want one for {when} too",
            "set one for {day} at {time}", "set one {onday} at {time}", "then set one for {when}", "okay set one {at}", "then add one for {when}", "add one for {time} {onday}", "add one to {task} {at}", "well set one for {when}",
            "no then set one for {when}", "set an alarm for {when} then", "set me one for {when}", "set me one {at}", "make me one {at}", "make one {at}", "make another for {when}", "put one in for {when}", "put one on {at}",
            "pop one on for {when}", "stick one on for {when}", "stick one on {at}", "i want one {at}", "i need one for {when}", "i need another one {at}", "wake me {at} then", "wake me up {at} then", "wake me {at} too",
            "give me one for {when}", "and set one {at}", "and one for {when}", "and add one {at}", "also one for {when}", "one for {when} please", "one {at} please", "one {at} too", "okay wake me {at}"],
        held=["let me have one {at}", "have one {at} too"],
        slots=SLOTS, call=lambda v: ("set_alarm", alarm(v, "task")), say=say_set),
    Intent(
        "clock.snooze.again", follows=("clock.snooze", "clock.snooze.again"), weight=0.6,
        patterns=["again", "once more", "snooze again", "again please", "one more time", "snooze it again", "another {snooze}", "another {snooze} please", "{snooze} more", "and another {snooze}", "make it {snooze}", "make that {snooze}",
            "no {snooze}", "for {snooze}", "{snooze}", "only {snooze}", "{snooze} instead", "snooze for {snooze} again", "once more for {snooze}", "again for {snooze}",
            "snooze", "snooze it", "snooze more", "and again", "again for another {snooze}", "one more snooze", "another snooze", "do it again", "still tired", "still tired again", "not yet", "longer", "a bit longer", "a bit more",
            "let me sleep more", "let me sleep", "{count} more", "{count} more minutes", "{count} more please", "another {count}", "another {count} minutes", "make it {count}", "make that {count}", "no {count}", "no make it {snooze}",
            "actually {snooze}", "actually make it {snooze}", "i meant {snooze}", "no i meant {snooze}", "i said {snooze}", "for {snooze} please", "for another {snooze}", "give me {snooze}", "give me {count} more",
            "give me another {snooze}", "just {snooze}", "just another {snooze}", "just {count} more minutes", "and {snooze} more"],
        held=["do it once more", "again but {snooze}"],
        slots=SLOTS, call=lambda v: ("snooze_alarm", {"minutes": v.get("snooze") or v.get("count")} if v.get("snooze") or v.get("count") else {}),
            say=lambda g, v, args, result: f"Snoozed for {args['minutes']} minute{'' if args['minutes'] == 1 else 's'}." if "minutes" in args else "Alarm snoozed."),
    Intent(
        "clock.snooze.off", follows=("clock.snooze", "clock.snooze.again"), weight=0.4,
        patterns=["okay i'm up", "i'm up", "i'm up now", "i'm awake", "i'm awake now", "okay i'm awake", "turn it off", "turn it off now", "now turn it off", "okay turn it off", "stop it", "cancel it", "cancel that", "actually i'm up", "actually turn it off",
            "alright i'm up", "alright i'm getting up", "i'm getting up", "okay okay i'm up", "no turn it off", "just turn it off", "switch it off", "i'm up turn it off", "i'm up cancel it", "never mind i'm up", "never mind i'm awake", "shut it off",
            "kill it", "no more snoozing i'm up", "fine i'm up", "cancel the alarm", "turn the alarm off", "turn off the alarm", "stop the alarm"],
        held=["okay i'm out of bed", "i'm awake you can stop it"],
        slots=SLOTS, call=lambda v: ("cancel_alarm", {}), result=cancelled, say=say_cancel),
    Intent(
        "clock.cancel.too", follows=("clock.cancel", "clock.cancel.listed", "clock.cancel.too"), weight=1.0,  # one more to be removed
        patterns=["and the {clk} one", "and the {clk} one too", "the {clk} one too", "the {clk} one as well", "and the {clk} alarm", "and the {clk} alarm too", "also the {clk} one", "also the {clk} alarm", "no the {clk} one", "no i meant the {clk} one",
            "i meant the {clk} one", "i meant the {clk} alarm", "sorry the {clk} one", "not that one the {clk} one", "not the {othert} one the {clk} one", "the {clk} one i mean", "and the one at {time}", "and the one for {time}", "and the one for {day}",
            "and the one for {day} too", "and the one {onday}", "also the one for {day}", "also the one {onday}", "and for {day}", "and for {day} too", "and {onday} too", "and {onday} as well", "and {dayof}", "and {dayof} too", "{dayof} too", "{dayof} as well",
            "no {dayof}", "i meant {dayof}", "no i meant the one for {day}", "and the {event} one", "and the {event} alarm", "and the {event} alarm too", "also the {event} alarm", "the {event} one too", "and the {event} reminder", "no the {event} one",
            "no i meant the {event} alarm", "i meant the {event} one", "same for the {clk} one", "same for the {event} one", "same for {day}", "the same for {day}",
            "all of them => all=true", "no all of them => all=true", "cancel all of them => all=true", "cancel them all => all=true", "all my alarms => all=true", "and all the others => all=true", "and the others too => all=true", "the others too => all=true",
            "i meant all of them => all=true", "actually all of them => all=true", "actually cancel them all => all=true", "cancel the rest too => all=true", "and the rest => all=true", "every one of them => all=true", "the lot => all=true", "cancel the lot => all=true"],
        held=["then the {clk} one too", "that goes for the {clk} one too"],
        slots=SLOTS, call=lambda v: ("cancel_alarm", {**alarm(v, "event"), **arguments(v, "all")}), result=cancelled, say=say_cancel),
    Intent(
        "clock.alarms.it", follows=SETS + ("clock.set.day", "clock.cancel", "clock.cancel.it"), weight=0.4,
        patterns=["what alarms do i have now", "which alarms are on now", "what alarms are set now", "what else is set", "what other alarms do i have", "do i have any others", "do i have any other alarms", "any others", "any other alarms", "what are my alarms now",
            "list my alarms", "show my alarms", "read them all back", "are there any more alarms", "are there any others", "how many alarms do i have now", "so what alarms do i have", "and what alarms do i have", "and which ones do i have now",
            "tell me all my alarms", "what have i got now", "what's set now", "is anything else set", "have i got any others", "check my alarms", "any more alarms", "and my other alarms", "what are the others"],
        held=["let me hear them all", "have i got any more of them"],
        slots=SLOTS, call=lambda v: ("get_alarms", {}), result=some_alarms, say=say_alarms),
    Intent(
        "clock.time.also", follows=("clock.time", "clock.time.place", "clock.time.also", "clock.time.here"), weight=1.4,
        patterns=["and in {place}", "and in {place}", "what about {place}", "what about in {place}", "how about {place}", "how about in {place}", "and {place}", "in {place}", "and what about {place}", "and what about in {place}",
            "and what time is it in {place}", "and in {place} now", "and over in {place}", "same for {place}", "the same for {place}", "and for {place}", "also in {place}", "also {place}", "now {place}", "now in {place}", "{place}",
            "and for people in {place}", "and the time in {place}", "what is it in {place}", "what is it in {place} then", "and how late is it in {place}", "no in {place}", "no i meant {place}", "i meant {place}",
                  "i mean in {place}", "not there in {place}", "and then {place}", "and how about {place}", "next {place}", "and if i'm in {place}",
            "and {place} too", "and {place} time", "and what's the time in {place}", "and what's {place} time", "and the {place} time", "what about the time in {place}", "what about {place} then", "what about over in {place}",
            "how about the time in {place}", "okay and {place}", "okay and in {place}", "and now {place}", "and now in {place}", "sorry in {place}", "sorry i meant {place}", "not there {place}", "i said {place}", "i said in {place}",
            "no i said {place}", "no {place}", "actually {place}", "actually in {place}", "i mean {place}", "the one in {place}", "{place} too", "{place} as well", "{place} then", "{place} now", "and is it late in {place}",
            "is it later in {place}", "is it the same in {place}", "is it the same time in {place}", "what would it be in {place}", "what is it over in {place}", "what's it in {place}", "and for my friend in {place}",
            "check {place} too", "check {place} as well", "tell me {place} too"],
        held=["and how is it in {place}", "then what would it be in {place}", "let's hear {place}"],
        slots=SLOTS, call=lambda v: ("get_time", {"place": v["place"]}), result=the_time, say=say_time),
    Intent(
        "clock.time.here", follows=("clock.time.place", "clock.time.also", "clock.date", "clock.date.day", "clock.date.also", "clock.date.today"), weight=0.5,
        patterns=["and the time", "and what time is it", "and what's the time", "what time is it here", "and here", "and the time here", "what about here", "and at home", "the time too", "and the time please", "and what time is it here",
            "and the time now", "and how late is it", "also the time", "and our time", "here too", "and what's the time here",
            "and what time is it here now", "and what time have we got", "and over here", "and where i am", "what about at home", "and what time is it at home", "what's the time here", "what's our time", "what's the time then",
            "what time is it", "what time is it now", "and the time at home", "and right here", "and for us", "and for us here", "no here", "no i meant here", "i meant here", "not there here", "time here", "and the local time",
            "and now here", "tell me the time too", "the time as well", "and the clock"],
        held=["let me hear the time too", "how is it here"],
        slots=SLOTS, call=lambda v: ("get_time", {}), result=the_time, say=say_time),
    Intent(
        "clock.date.also", follows=("clock.date", "clock.date.day", "clock.date.also", "clock.date.today"), weight=1.2,
        patterns=["and {asked}", "and {rel}", "and {tom}", "and {holiday}", "what about {asked}", "what about {rel}", "what about {holiday}", "how about {asked}", "how about {rel}", "and what about {asked}", "and when is {holiday}",
            "and what day is {asked}", "and what day is {tom}", "and on {wday}", "what about on {wday}", "{asked}", "also {asked}", "and the date {tom}", "and for {asked}", "same for {asked}", "and {named}", "now {named}", "and how about {named}",
            "no i meant {asked}", "i meant {asked}", "and what date is {asked}", "and {wday}",
            "and {far}", "what about {far}", "and what date is it {far}", "and what day is it {far}", "and {ago}", "what about {ago}", "and what day was it {ago}", "and {nthday}", "and what about {nthday}", "what day is {holiday}",
            "what day is {holiday} then", "and what day will {holiday} be", "and when's {holiday}", "and when does {holiday} fall", "and {holiday} this year", "okay and {asked}", "okay and {holiday}", "what about {holiday} this year",
            "how about {holiday}", "no {asked}", "no {holiday}", "no {wday}", "actually {asked}", "sorry {asked}", "sorry i meant {asked}", "i mean {asked}", "i said {asked}", "no i said {asked}", "not that {asked}", "{holiday} too",
            "{asked} too", "and the date of {holiday}", "and the date on {wday}", "and the date of {named}", "and which day is {named}", "and what weekday is {named}", "and is {named} a weekend", "check {holiday} too", "then {asked}"],
        held=["and then {asked}", "let's hear {named}"],
        slots=SLOTS, call=date_call, result=the_date, say=say_date),
    Intent(
        "clock.date.today", follows=("clock.time", "clock.time.here", "clock.time.also", "clock.date.day", "clock.date.also"), weight=0.5,
        patterns=["and the date", "and what day is it", "and what's the date", "and today's date", "and what day is it today", "what about the date", "and the day", "what day is it", "the date too", "and the date please", "and today",
            "also the date", "and which day is it", "and what is today's date", "and the day of the week", "what about today",
            "and what's today", "and what's today's date", "and what day is today", "and what date is it", "and what date is it today", "and the weekday", "and the day today", "and today's date please", "what's the date",
            "what's the date today", "what's today", "what's today then", "what day is it today", "what date is it", "what's today's date", "the date as well", "the day too", "and which date", "and what are we today",
            "and what about today", "so what's today", "and now today", "no today", "no i meant today", "i meant today"],
        held=["let me hear the date too", "and which date is it today"],
        slots=SLOTS, call=lambda v: ("get_date", {}), result=the_date, say=say_date),
]
